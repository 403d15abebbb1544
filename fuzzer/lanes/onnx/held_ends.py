"""A file of ONNX whose inputs and outputs of small types are those that a case holds: the references run it.

TVM gets the file as it is. numpy arrays of these types go neither into onnxruntime nor out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import helper

from generators.graph import Array
from generators.onnx.small_types import OF_NUMBER, SmallType, in_small_type
from generators.onnx.source import NUMBER_OF, element


def with_held_ends(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> tuple[onnx.ModelProto, Mapping[str, Array]]:
    """The file and its inputs, as a case holds them, with a Cast at each input and output of a small type. They are
    those that were given where there is none."""
    graph = model.graph
    weights = {item.name for item in graph.initializer}
    takes = [item for item in graph.input if _small(item) and item.name not in weights]
    if not takes and not any(map(_small, graph.output)):
        return model, inputs
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    named = {item.name: f"{item.name}/held" for item in takes}
    before = [_take(item, named[item.name]) for item in copy.graph.input if item.name in named]
    after = [_give(item) for item in copy.graph.output if _small(item)]
    nodes = [*before, *copy.graph.node, *after]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy, {named.get(name, name): array for name, array in inputs.items()}


def as_in_file(item: onnx.ValueInfoProto, array: Array) -> Array:
    """The array of an input in the type that the file says."""
    small = _small(item)
    return in_small_type(array, small) if small else array


def _small(item: onnx.ValueInfoProto) -> SmallType | None:
    return OF_NUMBER.get(item.type.tensor_type.elem_type)


def _take(item: onnx.ValueInfoProto, name: str) -> Any:
    """Give an input another name and the dtype that holds it. Return the Cast that makes the value of the file."""
    node = helper.make_node("Cast", [name], [item.name], to=item.type.tensor_type.elem_type)
    _hold(item, name)
    return node


def _give(item: onnx.ValueInfoProto) -> Any:
    own = item.name
    _hold(item, f"{own}/held")
    return helper.make_node("Cast", [own], [item.name], to=item.type.tensor_type.elem_type)


def _hold(item: onnx.ValueInfoProto, name: str) -> None:
    small = _small(item)
    assert small is not None
    item.name = name
    item.type.tensor_type.elem_type = NUMBER_OF[element(small.held)]
