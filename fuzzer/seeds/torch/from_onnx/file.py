"""A file of ONNX as calls of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from fuzzer.seeds.bounds import MAX_NODES
from fuzzer.seeds.onnx.file import in_order, title_of, types_of
from fuzzer.seeds.onnx.graph import GRAPH, OPAQUE, OnnxGraph
from fuzzer.seeds.torch.from_onnx import RULES, Translation, Untranslatable
from fuzzer.seeds.torch.program import Program, Step
from generators.graph import Array, Invalid, Role, TensorType
from generators.onnx.model import Node

SHAPE_OPERATORS = frozenset(("Shape", "Size"))
SHAPE_ARITHMETIC = frozenset(
    ("Add", "Cast", "Concat", "Div", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze")
)
"""Operators with which exporters compute new shapes from the results of `SHAPE_OPERATORS`."""


def program_of(graph: OnnxGraph, path: Path) -> Program:
    """The file as calls of PyTorch."""
    types = types_of(graph, path)
    constants = {name: tensor.array for name, tensor in graph.tensors.items()}
    translation = Translation(graph.opset, types, constants, RULES)
    steps = tuple(_steps(graph, translation, path))
    roles = {name: _role(types.get(name)) for name in graph.owned} | translation.roles
    kept = {name: array for name, array in constants.items() if array.dtype.kind in "biu"}
    return Program(path.stem, steps, types | translation.types, roles, kept)


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
