"""The file of a model as a person gave it, and the numbers of its case.

The file of a `generators.graph.Given` has no numbers where the case has them: they are taken out when it is read, and
put in when it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from fuzzer.lanes.onnx.all_tensors import tensors_of
from generators.graph import Array, Case
from generators.onnx.small_types import OF_NUMBER, in_small_type

_NUMBERS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data", "raw_data")
_ELSEWHERE = ("external_data", "data_location")


def without_numbers(model: onnx.ModelProto, names: set[str]) -> bytes:
    """The file without the numbers of these initializers and nodes Constant, and of those in other files."""
    kept = onnx.ModelProto()
    kept.CopyFrom(model)
    for name, tensor in tensors_of_graph(kept.graph):
        if name in names:
            for field in (*_NUMBERS, *_ELSEWHERE):
                tensor.ClearField(field)
    written: bytes = kept.SerializeToString()
    return written


def given_file(case: Case, *, open_sizes: bool) -> onnx.ModelProto:
    """The file with the numbers of the case. `open_sizes`: whether sizes that it leaves open stay so; otherwise inputs
    have the sizes of the case. Raise ValueError where the file is none."""
    assert case.given is not None
    try:
        model = onnx.load_from_string(case.given.model)
    except Exception as error:  # protobuf's DecodeError has no type stub and no public module
        raise ValueError(f"the given model is no file of ONNX: {error}") from None
    if any(tensor.external_data for tensor in _of_all_graphs(model)):
        raise ValueError("the given model has tensors in other files")
    named = {file_name: case.tensors[name] for name, file_name in case.given.names.items()}
    for name, tensor in tensors_of_graph(model.graph):
        if name in named:
            array, small = named[name].reshape(list(tensor.dims)), OF_NUMBER.get(tensor.data_type)
            tensor.CopyFrom(numpy_helper.from_array(in_small_type(array, small) if small else array, tensor.name))
        elif _has_no_numbers(tensor):  # nothing reads it
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            tensor.CopyFrom(numpy_helper.from_array(np.zeros(list(tensor.dims), dtype), tensor.name))
    if not open_sizes:
        _close(model.graph, named)
    return model


def _has_no_numbers(tensor: onnx.TensorProto) -> bool:
    return math.prod(tensor.dims) > 0 and not any(getattr(tensor, field) for field in _NUMBERS)


def _of_all_graphs(model: onnx.ModelProto) -> Iterator[Any]:
    return (tensor for graph in (model.graph, *model.functions) for tensor in tensors_of(graph))


def tensors_of_graph(graph: Any) -> Iterator[tuple[str, Any]]:
    """The name and the tensor of each initializer, and of each node Constant with a tensor."""
    for item in graph.initializer:
        yield item.name, item
    for node in graph.node:
        if node.op_type == "Constant" and len(node.output) == 1:
            yield from ((node.output[0], each.t) for each in node.attribute if each.name == "value")


def _close(graph: Any, arrays: Mapping[str, Array]) -> None:
    """Give the inputs the sizes of the arrays."""
    for item in graph.input:
        if item.name in arrays:
            for dim, size in zip(item.type.tensor_type.shape.dim, arrays[item.name].shape, strict=True):
                dim.dim_value = size
