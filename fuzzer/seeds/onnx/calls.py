"""An ONNX file in rows of ONNX: its own nodes, in the version and with the attributes that the file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzzer.coverage.onnx.features import Feature, reason_of
from fuzzer.seeds.bounds import MAX_RANK
from fuzzer.seeds.onnx.file import in_order, title_of, types_of
from fuzzer.seeds.onnx.graph import GRAPH, OPAQUE, OnnxGraph
from fuzzer.seeds.resolved import Resolved
from generators.graph import Array, Form, Invalid, Node, Role, TensorType
from generators.onnx import model
from generators.onnx.call_of import NAMES_OF_DOMAIN, Known, Surroundings, call_of
from generators.onnx.dialect import DIALECT
from generators.onnx.forms import may_hold
from generators.onnx.operator import NodeForm
from generators.onnx.rows import OPS
from generators.onnx.schema import FIRST_KNOWN, MICROSOFT, newest_known_opset
from generators.onnx.small_types import held
from generators.op import require

SHAPES = ("Shape", "Size")


@dataclass(frozen=True, slots=True)
class _Step:
    """A node of the file, and its call; without one the reason."""

    node: model.Node
    call: Node | None
    why_not: str = ""

    @property
    def results(self) -> tuple[str, ...]:
        return tuple(filter(None, self.node.outputs))


def in_rows_of_onnx(graph: OnnxGraph, path: Path, given: Mapping[str, Array] = {}) -> Resolved:
    """Return the model with a call for each node that has a row, without nodes that only compute what other calls have
    as attributes. `given` are numbers of inputs of the model, by name: a call may have them as attributes. Raise
    `Invalid` where the file's nodes are in no order."""
    types = dict(types_of(graph, path))
    read = {name for node in graph.nodes for name in node.inputs} | set(graph.outputs)
    known = known_in(graph) | {name: Known(array, Form.AS_INPUT) for name, array in given.items()}
    around = Surroundings(graph.opset, types, known, read, frozenset(graph.branched))
    steps = []
    for node in in_order(graph, path, graph.nodes):
        step = _step(node, around)
        if step.call:
            types |= {value.name: value.type for value in step.call.results}
        steps.append(step)
    kept = list(_needed(steps, graph))
    lacking = Counter((title_of(step.node), step.why_not) for step in kept if step.call is None)
    return Resolved(
        path.stem,
        DIALECT.name,
        tuple(step.call for step in kept if step.call),
        types,
        len(kept),
        len(kept) - sum(lacking.values()),
        lacking,
        {name: role_of(name, graph, types) for name in graph.owned},
        kept_numbers(graph),
        frozenset(graph.inputs),
        graph.outputs,
        graph.opset,
        graph.open,
        frozenset(step.call.results[0].name for step in kept if step.call and _needs_numbers(step, step.call, graph)),
    )


def _needs_numbers(step: _Step, call: Node, graph: OnnxGraph) -> bool:
    """Whether a call has attributes that are computed from open sizes of the file, or is there because of them."""
    from_open = set(graph.from_open)
    is_taken = not from_open.isdisjoint(step.results) and not all(name in graph.computed for name in step.results)
    return is_taken or not from_open.isdisjoint({*step.node.inputs} - {*call.args})


def known_in(graph: OnnxGraph) -> dict[str, Known]:
    """The tensors of a file whose numbers are known, and how the file has them."""
    known = {name: Known(tensor.array, form_of(graph.written.get(name))) for name, tensor in graph.tensors.items()}
    from_shapes: set[str] = set()
    for node in graph.nodes:
        if node.op in SHAPES or not from_shapes.isdisjoint(node.inputs):
            from_shapes.update(node.outputs)
    for name, tensor in graph.computed.items():
        known[name] = Known(tensor.array, Form.COMPUTED if name in from_shapes else Form.CONSTANT)
    return known


def form_of(attribute: str | None) -> Form:
    """The form of a constant that a node Constant has in this attribute; None: it is an initializer."""
    if attribute is None:
        return Form.PLAIN
    return Form.CONSTANT if attribute == "value" else Form.LIST


def _step(node: model.Node, around: Surroundings) -> _Step:
    if why := OPAQUE.get(node.domain) or why_no_version(node):
        return _Step(node, None, why)
    try:
        call = call_of(node, around)
        for value in call.results:
            _require_declared(value.name, value.type, around.types)
    except Invalid as why:
        return _Step(node, None, str(why))
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        # rows expect operands and attributes that an exporter writes, and the file may have any
        return _Step(node, None, f"its operands and attributes do not fit together ({type(error).__name__})")
    return _Step(node, call)


def why_no_version(node: model.Node) -> str:
    """Why no version of an operator has a row; "" where one has, or where nobody has said why."""
    if any(each.body for each in node.attributes):
        return GRAPH
    if any((node.op, domain) in _operators() for domain in ("", MICROSOFT) if node.domain in NAMES_OF_DOMAIN[domain]):
        return ""
    reason = reason_of(Feature(title_of(node), 0))
    return f"there is no row of this operator: {reason}" if reason else ""


@cache
def _operators() -> frozenset[tuple[str, str]]:
    """The name and the domain of each operator that has a row."""
    forms = (row.source for row in OPS)
    return frozenset((form.schema.name, form.schema.domain) for form in forms if isinstance(form, NodeForm))


def _require_declared(name: str, type: TensorType, declared: Mapping[str, TensorType]) -> None:
    require(type.rank <= MAX_RANK, f"returns a tensor of rank {type.rank}")
    require(min(type.sizes, default=0) >= 0, f"returns {type}")
    require(declared.get(name, type) == type, f"returns {declared.get(name)}, the row {type}")


def _needed(steps: list[_Step], graph: OnnxGraph) -> Iterator[_Step]:
    """The steps in order, without those whose results are known and are no operands of others."""
    needed, kept = set(graph.outputs), []
    for step in reversed(steps):
        if needed.isdisjoint(step.results) and all(name in graph.computed for name in step.results):
            continue
        kept.append(step)
        needed.update(step.call.args if step.call else ())
    return reversed(kept)


def role_of(name: str, graph: OnnxGraph, types: Mapping[str, TensorType]) -> Role:
    """A tensor is a node Constant where the file has it as one, and the opset allows it for its dtype."""
    type = types.get(name)
    is_constant = name in graph.written and type is not None and FIRST_KNOWN <= graph.opset <= newest_known_opset()
    return Role.BUFFER if is_constant and may_hold(graph.opset, type.dtype) else Role.PARAM  # type: ignore[union-attr]


def kept_numbers(graph: OnnxGraph) -> dict[str, Array]:
    """The numbers of the file that cases have: integers, booleans, single numbers such as an exponent, those of small
    types, and those that say sizes and places."""
    arrays = {name: tensor.array for name, tensor in graph.constants.items()}
    return {
        name: held(array)
        for name, array in arrays.items()
        if array.dtype.kind in "biu" or array.size == 1 or name in graph.meant or name not in graph.tensors
    }
