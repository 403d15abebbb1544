"""Read an .onnx file, and translate it to calls of PyTorch. Children with limits parse it
(`fuzzer.seeds.reader.reader`) and ask onnxruntime about it (`fuzzer.seeds.reader.refusal`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from fuzzer.seeds.bounded_child import answer_of
from fuzzer.seeds.onnx_graph import GRAPH, MAX_BYTES, OPAQUE, OnnxGraph, Refusal, RunTypes, WantedSizes, decode
from fuzzer.seeds.onnx_to_torch import RULES, Translation, Untranslatable
from fuzzer.seeds.program import MAX_NODES, Program, Step, TopologicalOrder, require_sizes
from fuzzer.system import temporary
from generators.graph import Array, DType, Invalid, Role, TensorType
from generators.onnx.model import ELEMENTS, Node
from generators.onnx.source import tensor
from generators.onnx.unlisted import captured

MODULE = "fuzzer.seeds.reader.reader"
REFUSAL_MODULE = "fuzzer.seeds.reader.refusal"
RUN_MODULE = "fuzzer.seeds.reader.run_types"

SHAPE_OPERATORS = frozenset(("Shape", "Size"))
SHAPE_ARITHMETIC = frozenset(
    ("Add", "Cast", "Concat", "Div", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze")
)
"""Operators with which exporters compute new shapes from the results of `SHAPE_OPERATORS`."""


def read(path: Path, inputs: Mapping[str, Array] = {}, sizes: Mapping[str, int] = {}) -> OnnxGraph:
    """Read a file. Its open sizes have the numbers of `sizes`, by their names, and those of the inputs that are known,
    by name. Raise `Invalid` with one line that describes what is wrong and where."""
    if not inputs and not sizes:
        return decode(answer_of(MODULE, path, MAX_BYTES), str(path))
    with temporary.folder() as folder:
        wanted = folder / "wanted"
        wanted.write_bytes(
            msgspec.json.encode(WantedSizes({name: array.shape for name, array in inputs.items()}, dict(sizes)))
        )
        graph = decode(answer_of(MODULE, path, MAX_BYTES, wanted), str(path))
    there = sorted({name for names in graph.open.values() for name in names if name})
    if unknown := [name for name in sizes if name not in there]:
        raise Invalid(f"{path}: it has no open size {unknown[0]!r}; its open sizes are {', '.join(there) or 'none'}")
    return graph


def refusal_of(path: Path) -> str:
    """Why onnxruntime refuses a file as invalid; "" where it does not, or where its child gives no answer: it does not
    run the case then, which says more."""
    with suppress(Invalid, msgspec.DecodeError):
        return msgspec.json.decode(answer_of(REFUSAL_MODULE, path, MAX_BYTES), type=Refusal).refused
    return ""


def types_in_run(
    path: Path, values: Mapping[str, Array], drawn: Sequence[str] = ()
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The element type and the sizes of each value that a node of a file makes, where onnxruntime runs it with these
    numbers of its inputs and weights, of which those of the inputs `drawn` are drawn. Raise `Invalid` where it does
    not."""
    given = {name: tensor(array) for name, array in values.items()}
    with temporary.folder() as folder:
        file = folder / "values"
        file.write_bytes(msgspec.msgpack.encode(given))
        text = answer_of(RUN_MODULE, path, MAX_BYTES, file)
    try:
        return msgspec.json.decode(text, type=RunTypes).types
    except msgspec.ValidationError:
        refused = msgspec.json.decode(text, type=Refusal).refused
    raise Invalid(f"{path}: onnxruntime does not run it with these inputs: {refused}{were_drawn(drawn)}")


def were_drawn(inputs: Sequence[str]) -> str:
    """What a person may do where a model refuses inputs that were drawn; "" where none were."""
    if not inputs:
        return ""
    names = ", ".join(map(repr, inputs))
    return f"; {names} {'was' if len(inputs) == 1 else 'were'} drawn: give inputs that the model takes"


def types_of(graph: OnnxGraph, path: Path) -> dict[str, TensorType]:
    """The types that are known and supported. Raise `Invalid` where no model has a value of such sizes."""
    return {name: type for name, each in graph.types.items() if (type := _type(name, *each, path))}


def in_order(graph: OnnxGraph, path: Path, nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the nodes. Raise `Invalid` where one reads what no node before it makes."""
    order = TopologicalOrder((*graph.inputs, *graph.owned), len(nodes), str(path))
    for node in nodes:
        reads = (*filter(None, node.inputs), *captured(node))
        order.next(node.op, reads, tuple(name for name in node.outputs if name))
        yield node


def title_of(node: Node) -> str:
    """The operator of a node, after the name of its domain where that is not ONNX's own."""
    return node.op if node.domain in ("", "ai.onnx", *OPAQUE) else f"{node.domain}.{node.op}"


def program(graph: OnnxGraph, path: Path) -> Program:
    """The file as calls of PyTorch."""
    types = types_of(graph, path)
    constants = {name: tensor.array for name, tensor in graph.tensors.items()}
    translation = Translation(graph.opset, types, constants, RULES)
    steps = tuple(_steps(graph, translation, path))
    roles = {name: _role(types.get(name)) for name in graph.owned} | translation.roles
    kept = {name: array for name, array in constants.items() if array.dtype.kind in "biu"}
    return Program(path.stem, steps, types | translation.types, roles, kept)


def _type(name: str, element: str, shape: tuple[int | None, ...], path: Path) -> TensorType | None:
    require_sizes(name, shape, str(path))
    dtype = dtype_of(element)
    if dtype is None or None in shape:
        return None
    return TensorType(dtype, tuple(size for size in shape if size is not None))


def dtype_of(element: str) -> DType | None:
    """The dtype of an element type of ONNX; None where a case has no tensors of it."""
    return DType.of(ELEMENTS.get(element))


def _role(type: TensorType | None) -> Role:
    return Role.PARAM if type and type.dtype.is_float else Role.BUFFER


def _steps(graph: OnnxGraph, translation: Translation, path: Path) -> Iterator[Step]:
    """Yield the steps, without nodes that only compute shapes: shapes are known."""
    sizes = set[str]()
    calls = 0
    for node in in_order(graph, path, graph.nodes):
        results = tuple(name for name in node.outputs if name)
        if _is_size(node, sizes, translation.constants):
            sizes.update(results)
            continue
        step = _step(node, results, translation)
        calls += len(step.calls)
        if calls > MAX_NODES:
            raise Invalid(f"{path}: its nodes become more than {MAX_NODES} calls of PyTorch")
        yield step


def _is_size(node: Node, sizes: set[str], constants: Mapping[str, Array]) -> bool:
    """Whether a node only computes a shape. `sizes` are the values that do so before it."""
    known = all(name in sizes or name in constants for name in node.inputs if name)
    return node.op in SHAPE_OPERATORS or (node.op in SHAPE_ARITHMETIC and known and not sizes.isdisjoint(node.inputs))


def _step(node: Node, results: tuple[str, ...], translation: Translation) -> Step:
    if any(each.body for each in node.attributes):
        return Step(node.op, results, why_not=GRAPH)
    if node.domain not in ("", "ai.onnx"):
        return Step(title_of(node), results, why_not=OPAQUE.get(node.domain, "is not an operator of ONNX"))
    try:
        return Step(node.op, results, tuple(translation.calls(node)))
    except Untranslatable as why:
        return Step(node.op, results, why_not=str(why))
