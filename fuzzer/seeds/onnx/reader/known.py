"""What is known of an ONNX file before it runs: its constants, the types of its values, the numbers that are computed
from shapes alone, and the branches of an If that are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from fuzzer.seeds.bounds import MAX_NODES, why_no_sizes
from fuzzer.seeds.onnx.reader.branches import inlined

ROUNDS = 12
"""How often types are inferred again with what was computed from those before."""

MOST_COMPUTED = 1024
"""The most numbers of a tensor that is computed here, and of each that it is computed from."""

SHAPES = frozenset(("Shape", "Size"))
COMPUTED = SHAPES | frozenset(
    (
        *("Abs", "Add", "And", "Cast", "Ceil", "Concat", "ConstantOfShape", "Div", "Equal", "Expand", "Floor"),
        *("Gather", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Max", "Min", "Mod", "Mul"),
        *("Neg", "Not", "Or", "Range", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape", "Slice"),
        *("Split", "Sqrt", "Squeeze", "Sub", "Transpose", "Unsqueeze", "Where"),
    )
)
"""Operators with which exporters compute shapes, axes and conditions."""


class TooManyNodes(Exception):
    """The branches that are taken have more nodes than a file may have."""


@dataclass
class KnownParts:
    """A graph without weights, whose nodes of If are replaced where their branch is known.

    model     the file: large tensors are inputs of it
    kept      the tensors whose numbers are known, by name
    typed     the graph after shape inference
    computed  the numbers that are computed from shapes and constants, by name
    branched  the results of nodes that stood in both branches of an If
    """

    model: onnx.ModelProto
    kept: dict[str, TensorProto]
    typed: Any = None
    computed: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    branched: set[str] = field(default_factory=set)

    def find(self, opset: int) -> None:
        """Infer types, compute numbers and take branches, until nothing new is known."""
        tried: set[str] = set()
        for _ in range(ROUNDS):
            self.typed = shape_inference.infer_shapes(self._without_computed(), data_prop=True).graph
            types = dict(_static_types(self.typed))
            found = self._compute(types, opset, tried)
            if not (self._take_branches() or found):
                return

    def _without_computed(self) -> onnx.ModelProto:
        """A copy in which initializers replace the nodes whose results are known."""
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        del copy.graph.node[:]
        copy.graph.node.extend(node for node in self.model.graph.node if not self._is_computed(node))
        copy.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in self.computed.items())
        return copy

    def _is_computed(self, node: Any) -> bool:
        return bool(node.output) and all(name in self.computed for name in node.output if name)

    def _compute(self, types: Mapping[str, tuple[int, ...]], opset: int, tried: set[str]) -> bool:
        """Compute what the types tell. `tried` are results that no computation gave."""
        known = {name: array for name, item in self.kept.items() if (array := _small_array(item)) is not None}
        known |= self.computed
        before = len(self.computed)
        for node in self.model.graph.node:
            names = [name for name in node.output if name]
            if node.domain not in ("", "ai.onnx") or node.op_type not in COMPUTED or not names or names[0] in tried:
                continue
            if self._is_computed(node) or not all(_count(types.get(name)) <= MOST_COMPUTED for name in names):
                continue
            feeds = dict(_feeds(node, known, types))
            if len(feeds) < len({name for name in node.input if name}):
                continue
            found = _run(node, opset, feeds)
            if found is None:
                tried.add(names[0])
                continue
            new = {name: array for name, array in zip(node.output, found, strict=False) if name}
            self.computed |= new
            known |= new
        return len(self.computed) > before

    def _take_branches(self) -> bool:
        """Replace nodes of If by the branch that is taken, and by one of two branches that are the same."""
        conditions = {name: bool(array) for name, array in self._scalars()}
        nodes, both, count = inlined(self.model.graph.node, conditions)
        if len(nodes) > MAX_NODES:
            raise TooManyNodes
        del self.model.graph.node[:]
        self.model.graph.node.extend(nodes)
        self.kept |= {name: tensor for name, _, tensor in constants(nodes) if name not in self.kept}
        self.branched |= both
        return count > 0

    def _scalars(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        yield from ((name, array) for name, array in self.computed.items() if array.size == 1)
        for name, item in self.kept.items():
            if (array := _small_array(item)) is not None and array.size == 1:
                yield name, array


def constants(nodes: Iterable[Any]) -> Iterator[tuple[str, str, TensorProto]]:
    """Yield the tensor of each node Constant: its name, the attribute that has it, and the tensor."""
    for node in nodes:
        if node.op_type == "Constant" and len(node.attribute) == 1 and len(node.output) == 1:
            (attribute,) = node.attribute
            match attribute.name:
                case "value":
                    tensor = attribute.t if attribute.HasField("t") else None
                case "value_int" | "value_ints":
                    tensor = _listed(attribute.name, attribute.i, attribute.ints, np.int64)
                case "value_float" | "value_floats":
                    tensor = _listed(attribute.name, attribute.f, attribute.floats, np.float32)
                case _:
                    tensor = None
            if tensor is not None:
                yield node.output[0], attribute.name, tensor


def _listed(name: str, one: Any, several: Any, dtype: Any) -> TensorProto:
    return numpy_helper.from_array(np.array(list(several) if name.endswith("s") else one, dtype))


def _static_types(graph: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The sizes of each value, where all of them are known."""
    for item in (*graph.input, *graph.output, *graph.value_info):
        tensor = item.type.tensor_type
        if tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            yield item.name, tuple(dim.dim_value for dim in tensor.shape.dim)
    yield from ((item.name, tuple(item.dims)) for item in graph.initializer)


def _count(sizes: tuple[int, ...] | None) -> float:
    count = 1.0
    for size in sizes if sizes is not None else (float("inf"),):
        count *= size
    return count


def _feeds(
    node: Any, known: Mapping[str, np.ndarray[Any, Any]], types: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The operands whose numbers are known. For a node that asks for sizes, any numbers of these sizes."""
    for name in node.input:
        if node.op_type in SHAPES and name in types and not why_no_sizes(types[name]):
            yield name, np.broadcast_to(np.zeros((), np.float32), types[name])
        elif name in known:
            yield name, known[name]


def _run(node: Any, opset: int, feeds: Mapping[str, np.ndarray[Any, Any]]) -> list[Any] | None:
    """The results in the interpreter of the onnx package, or None where it has none."""
    try:
        found = ReferenceEvaluator(node, opsets={"": opset}).run(None, dict(feeds))
    except Exception:  # whatever numpy raises about a node that is not what it should be
        return None
    arrays = [np.asarray(each) for each in found]
    plain = all(array.dtype.kind in "biuf" and array.size <= MOST_COMPUTED for array in arrays)
    return arrays if plain else None


def _small_array(item: TensorProto) -> np.ndarray[Any, Any] | None:
    if _count(tuple(item.dims)) > MOST_COMPUTED or item.external_data:
        return None
    try:
        array = numpy_helper.to_array(item)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "biuf" else None


__all__ = ["KnownParts", "TooManyNodes", "constants"]
