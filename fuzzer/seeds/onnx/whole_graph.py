"""An ONNX file as one graph with all of its nodes: calls of rows where these say the same, and otherwise the nodes as
they are in the file (`generators.onnx.unlisted`).

Nothing is computed before the model runs, no branch is taken, and no node is left out. The types of values come from
the file and from ONNX's own inference of types. Where these do not tell all of them, such as sizes that depend on data,
onnxruntime runs the file once, and the types are those of this run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.seeds.bounds import MAX_RANK, require_sizes
from fuzzer.seeds.cut import complete
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx.calls import form_of, kept_numbers, role_of, why_no_version
from fuzzer.seeds.onnx.file import dtype_of, in_order, title_of, types_of
from fuzzer.seeds.onnx.graph import OPAQUE, OnnxGraph
from fuzzer.seeds.resolved import Resolved
from generators.choice import NumpySource
from generators.graph import Array, Input, Invalid, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.call_of import Known, Surroundings, call_of
from generators.onnx.dialect import DIALECT
from generators.values import draw


def whole_file(graph: OnnxGraph, path: Path, given: Mapping[str, Array] = {}) -> Resolved:
    """Return the file with a call for each of its nodes. `given` are numbers of inputs, by name; where a run tells the
    types, others are drawn, and are among the constants of the result.

    Raise `Invalid` where the nodes are in no order, where onnxruntime does not run the file, and where a node is none
    that a case can have: of an unknown domain, or with values that are no tensors of a dtype of cases."""
    nodes = tuple(in_order(graph, path, graph.unchanged or graph.nodes))
    file = _File(graph, path, nodes, types_of(graph, path))
    calls = file.calls()
    kept = kept_numbers(graph)
    if file.untyped:
        file.require_supported()
        kept = _all_numbers(file, calls, {**kept, **given})
        drawn = [name for name in graph.inputs if name not in given]
        file = _File(graph, path, nodes, file.types_of_run(onnx_file.types_in_run(path, kept, drawn)))
        calls = file.calls()
    return Resolved(
        path.stem,
        DIALECT.name,
        calls,
        file.types,
        len(nodes),
        len(nodes) - file.unlisted.total(),
        Counter(),
        {name: role_of(name, graph, file.types) for name in graph.owned},
        kept,
        frozenset(graph.inputs),
        graph.outputs,
        graph.opset,
        graph.open,
        unlisted=file.unlisted,
    )


@dataclass
class _File:
    """The nodes of a file, and the types of its values as far as they are known.

    untyped   values whose types are not known: the nodes that make or read them have no call
    unlisted  how often a node has no row, by its title and the reason
    """

    graph: OnnxGraph
    path: Path
    nodes: tuple[model.Node, ...]
    types: dict[str, TensorType]
    untyped: list[str] = field(default_factory=list)
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def calls(self) -> tuple[Node, ...]:
        """The calls of all nodes whose values have known types, in order."""
        return tuple(call for node in self.nodes if (call := self._call(node)))

    def _call(self, node: model.Node) -> Node | None:
        if opaque := OPAQUE.get(node.domain):
            raise Invalid(f"{self.path}: {title_of(node)} {opaque}, which no case can hold")
        try:
            call: Node | None = self._call_of_row(node)
        except Invalid as why:
            call = self._as_it_is(node, str(why))
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            # rows expect operands and attributes that an exporter writes, and the file may have any
            call = self._as_it_is(node, f"its operands and attributes do not fit together ({type(error).__name__})")
        if call is not None:
            self.types |= {value.name: value.type for value in call.results}
        return call

    def _call_of_row(self, node: model.Node) -> Node:
        """The call of a row with the node's results. Raise `Invalid` where no row has it."""
        if why := why_no_version(node):
            raise Invalid(why)
        call = call_of(node, self._around)
        results = tuple(filter(None, node.outputs))
        if tuple(value.name for value in call.results) != results:
            raise Invalid("the row has fewer results")
        for value in call.results:
            known = self.types.get(value.name, value.type)
            if known != value.type or value.type.rank > MAX_RANK or min(value.type.sizes, default=0) < 0:
                raise Invalid(f"returns {known}, the row {value.type}")
        return call

    @property
    def _around(self) -> Surroundings:
        constants = self.graph.constants.items()
        known = {name: Known(tensor.array, form_of(self.graph.written.get(name))) for name, tensor in constants}
        return Surroundings(self.graph.opset, self.types, known, ())

    def _as_it_is(self, node: model.Node, why: str) -> Node | None:
        """The node as it is, because of `why`; None where types of its values are not known."""
        self.unlisted[title_of(node), why] += 1
        try:
            unlisted.require_known(node)
            return self._with_types(node)
        except Invalid as error:
            raise Invalid(f"{self.path}: {title_of(node)}: {error}") from None

    def _with_types(self, node: model.Node) -> Node | None:
        names = (*filter(None, node.inputs), *unlisted.captured(node), *filter(None, node.outputs))
        missing = [name for name in names if name not in self.types]
        self.untyped += missing
        if missing:
            return None
        return unlisted.call_of(node, self.graph.versions.get(node.domain, 1), self.types)

    def require_supported(self) -> None:
        """Raise `Invalid` where a value has an element type that no case has: no run tells more."""
        makers = {name: node for node in self.nodes for name in node.outputs if name}
        for name in self.untyped:
            element = self.graph.types.get(name, ("", ()))[0]
            if element not in ("", UNDEFINED) and dtype_of(element) is None:
                raise Invalid(f"{self.path}: {_refused(name, element, makers.get(name))}")

    def types_of_run(self, run: Mapping[str, tuple[str, tuple[int, ...]]]) -> dict[str, TensorType]:
        """The types of all values: of a run, and of what no node makes. Raise `Invalid` for one that no case holds."""
        makers = {name: node for node in self.nodes for name in node.outputs if name}
        types = {name: type for name, type in types_of(self.graph, self.path).items() if name not in makers}
        for name, node in makers.items():
            inferred = self.graph.types.get(name, ("", ()))[0]
            element, sizes = run.get(name, ("", ()))
            element = inferred if inferred == "BFLOAT16" else element  # onnxruntime computes it as float32
            dtype = dtype_of(element)
            if dtype is None:
                raise Invalid(f"{self.path}: {_refused(name, element, node)}")
            require_sizes(name, sizes, str(self.path))
            types[name] = TensorType(dtype, sizes)
        return types


UNDEFINED = "UNDEFINED"
"""The element type of a value of which nothing says it."""


def _refused(name: str, element: str, maker: model.Node | None = None) -> str:
    """For example "int4 is not supported: Cast (node `quantize`) makes the value 'q' of this type"."""
    what = f"{element.lower()} is not supported" if element else "values of an unknown type are not supported"
    if maker is None:
        return f"{what}: the value {name!r} is of this type"
    node = f"{title_of(maker)} (node `{maker.name}`)" if maker.name else title_of(maker)
    return f"{what}: {node} makes the value {name!r} of this type"


# --- the numbers of a run


def _all_numbers(file: _File, calls: tuple[Node, ...], known: Mapping[str, Array]) -> dict[str, Array]:
    """Numbers for all inputs and weights: those that are known, and drawn ones that are in the domains of the calls
    that are known so far."""
    graph, types = file.graph, file.types
    if missing := [name for name in (*graph.inputs, *graph.owned) if name not in types]:
        element = graph.types.get(missing[0], ("", ()))[0]
        if dtype_of(element):
            raise Invalid(f"{file.path}: the file does not say the shape of {missing[0]!r}, as ONNX requires")
        raise Invalid(f"{file.path}: {_refused(missing[0], element)}")
    roles = {name: role_of(name, graph, types) for name in graph.owned}
    piece = complete(calls, types, roles, (), DIALECT.name, graph.opset)
    here = {own: name for own, name in piece.origins.items() if name in graph.inputs or name in roles}
    drawn = draw_case(NumpySource(0), piece.graph, {}).tensors
    found = {name: drawn[own] for own, name in here.items()}
    for name in (*graph.inputs, *graph.owned):
        if name not in found and name not in known:
            found[name] = draw(NumpySource(0), Input(Value("x0", types[name])))
    return {**found, **known}
