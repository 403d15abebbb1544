"""The sizes that an ONNX file leaves open, and what is computed from them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from fuzzer.seeds.onnx.graph import WantedSizes
from fuzzer.seeds.onnx.reader.known import KnownParts, TooManyNodes

OPEN_SIZE = 2
"""The number that replaces a size that the file leaves open, which is mostly the batch."""

OTHER_SIZE = 3
"""Another number, to see what is computed from these sizes."""

MAX_NAME = 64
"""Longer names of sizes are not shown to people, nor names that are not printable."""


def open_sizes(graph: Any, owned: set[str]) -> dict[str, tuple[str, ...]]:
    """The names of the open sizes of each input that has one; "" for a size that is a number. A size without a name is
    called by its place."""
    found = {}
    for number, item in enumerate(graph.input):
        place = item.name if _is_shown(item.name) else f"input {number}"
        dims = item.type.tensor_type.shape.dim
        names = tuple(
            "" if dim.HasField("dim_value") else _name(dim, f"{place}[{axis}]") for axis, dim in enumerate(dims)
        )
        if item.name not in owned and any(names):
            found[item.name] = names
    return found


def _name(dim: Any, place: str) -> str:
    return str(dim.dim_param) if _is_shown(dim.dim_param) else place


def _is_shown(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME and name.isprintable()


def sizes_of(names: Mapping[str, Sequence[str]], wanted: WantedSizes) -> dict[tuple[str, int], int]:
    """The numbers of open sizes of inputs, by input and axis, where they are wanted, or where the shape of an input
    says them. Sizes of one name are one size. `names` are those that `open_sizes` returns."""
    known: dict[str, int] = dict(wanted.sizes)
    for input_name, each in names.items():
        if len(shape := wanted.shapes.get(input_name, ())) == len(each):
            known |= {name: size for name, size in zip(each, shape, strict=True) if name}
    places = ((item, axis, name) for item, each in names.items() for axis, name in enumerate(each))
    return {(item, axis): known[name] for item, axis, name in places if name in known}


def close_sizes(graph: Any, owned: set[str], size: int, known: Mapping[tuple[str, int], int] = {}) -> None:
    """Replace the open sizes of inputs by a number, those of `known` by theirs, and drop other shapes that are not all
    numbers."""
    for item in graph.input:
        for axis, dim in enumerate(item.type.tensor_type.shape.dim):
            if item.name not in owned and not dim.HasField("dim_value"):
                dim.dim_value = known.get((item.name, axis), size)
    for item in (*graph.value_info, *graph.output):  # keep the shapes that the file gives where they are numbers
        if any(not dim.HasField("dim_value") for dim in item.type.tensor_type.shape.dim):
            item.type.tensor_type.ClearField("shape")


def made_from_sizes(
    parts: KnownParts, model: onnx.ModelProto, given: dict[str, TensorProto], opset: int, until: float
) -> set[str]:
    """What is computed before the model runs and has other numbers at `OTHER_SIZE`, and the results of nodes that are
    not there at both sizes. All computed numbers, where the file does not fit to `OTHER_SIZE`, or where too much time
    was used.

    parts  what is known of the file at `OPEN_SIZE`
    model  the file with open sizes, which are replaced
    given  the tensors of the file
    until  the CPU time of this process, in seconds, at which too much was used
    """
    everything = set(parts.computed)
    if not everything or time.process_time() > until:
        return everything
    close_sizes(model.graph, set(given), OTHER_SIZE)
    other = KnownParts(model, dict(given))
    try:
        other.find(opset)
    except (TooManyNodes, RuntimeError, ValueError, onnx.shape_inference.InferenceError):
        return everything
    numbers = other.computed
    varying = {name for name, array in parts.computed.items() if not np.array_equal(array, numbers.get(name, ()))}
    there = _nodes(other)
    return varying | {name for node in _nodes(parts) - there for name in node[2] if name}


def _nodes(parts: KnownParts) -> set[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return {(node.op_type, tuple(node.input), tuple(node.output)) for node in parts.model.graph.node}
