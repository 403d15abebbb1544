"""Read an .onnx file, and translate it to calls of PyTorch. Children with limits parse it
(`fuzzer.children.onnx_reader`) and ask onnxruntime about it (`fuzzer.children.onnx_refusal`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from fuzzer.seeds.bounded_child import answer_of
from fuzzer.seeds.onnx_graph import MAX_BYTES, OPAQUE, OnnxGraph, Refusal, decode
from fuzzer.seeds.onnx_to_torch import RULES, Translation, Untranslatable
from fuzzer.seeds.program import Program, Step, TopologicalOrder, require_sizes
from generators.graph import Array, DType, Invalid, Role, TensorType
from generators.onnx.model import ELEMENTS, Node

SECONDS = 240.0
MODULE = "fuzzer.children.onnx_reader"
REFUSAL_MODULE = "fuzzer.children.onnx_refusal"

SHAPE_OPERATORS = frozenset(("Shape", "Size"))
SHAPE_ARITHMETIC = frozenset(
    ("Add", "Cast", "Concat", "Div", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze")
)
"""Operators with which exporters compute new shapes from the results of `SHAPE_OPERATORS`."""


def read(path: Path) -> OnnxGraph:
    """Read a file. Raise `Invalid` with one line that describes what is wrong and where."""
    return decode(answer_of(MODULE, path, SECONDS, MAX_BYTES), str(path))


def refusal_of(path: Path) -> str:
    """Why onnxruntime refuses a file as invalid; "" where it does not, or where its child gives no answer: it does not
    run the case then, which says more."""
    with suppress(Invalid, msgspec.DecodeError):
        return msgspec.json.decode(answer_of(REFUSAL_MODULE, path, SECONDS, MAX_BYTES), type=Refusal).refused
    return ""


def types_of(graph: OnnxGraph, path: Path) -> dict[str, TensorType]:
    """The types that are known and supported. Raise `Invalid` where no model has a value of such sizes."""
    return {name: type for name, each in graph.types.items() if (type := _type(name, *each, path))}


def in_order(graph: OnnxGraph, path: Path) -> Iterator[Node]:
    """Yield the nodes. Raise `Invalid` where one reads what no node before it makes."""
    order = TopologicalOrder((*graph.inputs, *graph.owned), len(graph.nodes), str(path))
    for node in graph.nodes:
        reads = tuple(dict.fromkeys(name for name in node.inputs if name))
        order.next(node.op, reads, tuple(name for name in node.outputs if name))
        yield node


def title_of(node: Node) -> str:
    """The operator of a node, after the name of its domain where that is not ONNX's own."""
    return node.op if node.domain in ("", "ai.onnx", *OPAQUE) else f"{node.domain}.{node.op}"


def program(graph: OnnxGraph, path: Path) -> Program:
    """The file as calls of PyTorch."""
    types = types_of(graph, path)
    constants = {name: tensor.array for name, tensor in graph.constants.items()}
    translation = Translation(graph.opset, types, constants, RULES)
    steps = tuple(_steps(graph, translation, path))
    roles = {name: _role(types.get(name)) for name in graph.owned} | translation.roles
    kept = {name: array for name, array in constants.items() if array.dtype.kind in "biu"}
    return Program(path.stem, steps, types | translation.types, roles, kept)


def _type(name: str, element: str, shape: tuple[int | None, ...], path: Path) -> TensorType | None:
    require_sizes(name, shape, str(path))
    dtype = ELEMENTS.get(element)
    supported = [each for each in DType if each.numpy == dtype]
    if not supported or None in shape:
        return None
    return TensorType(supported[0], tuple(size for size in shape if size is not None))


def _role(type: TensorType | None) -> Role:
    return Role.PARAM if type and type.dtype.is_float else Role.BUFFER


def _steps(graph: OnnxGraph, translation: Translation, path: Path) -> Iterator[Step]:
    """Yield the steps, without nodes that only compute shapes: shapes are known."""
    sizes = set[str]()
    for node in in_order(graph, path):
        results = tuple(name for name in node.outputs if name)
        if _is_size(node, sizes, translation.constants):
            sizes.update(results)
            continue
        yield _step(node, results, translation)


def _is_size(node: Node, sizes: set[str], constants: Mapping[str, Array]) -> bool:
    """Whether a node only computes a shape. `sizes` are the values that do so before it."""
    known = all(name in sizes or name in constants for name in node.inputs if name)
    return node.op in SHAPE_OPERATORS or (node.op in SHAPE_ARITHMETIC and known and not sizes.isdisjoint(node.inputs))


def _step(node: Node, results: tuple[str, ...], translation: Translation) -> Step:
    if node.domain not in ("", "ai.onnx"):
        return Step(title_of(node), results, why_not=OPAQUE.get(node.domain, "is not an operator of ONNX"))
    try:
        return Step(node.op, results, tuple(translation.calls(node)))
    except Untranslatable as why:
        return Step(node.op, results, why_not=str(why))
