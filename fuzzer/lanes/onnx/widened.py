"""Replace the floats of an ONNX file by wider ones: bfloat16 by float32, because onnxruntime has few bfloat16 kernels,
and all floats by float64, for the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from generators.graph import Array, DType
from generators.onnx.operator import ELEMENT_TYPE_ATTRIBUTES

Widening = Mapping[int, int]
"""From element types to those that take their place."""

BFLOAT16_TO_FLOAT = {TensorProto.BFLOAT16: TensorProto.FLOAT}
FLOATS_TO_DOUBLE = dict.fromkeys((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16), TensorProto.DOUBLE)


def widened(file: onnx.ModelProto, widening: Widening = BFLOAT16_TO_FLOAT) -> onnx.ModelProto:
    """Return a copy with wider floats. The names of inputs and outputs stay."""
    copy = onnx.ModelProto()
    copy.CopyFrom(file)
    widen(copy, widening)
    return copy


def widen(copy: onnx.ModelProto, widening: Widening) -> None:
    """Change the file."""
    for graph in _graphs(copy.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            _widen_type(value.type, widening)
        for tensor in graph.initializer:
            _widen_tensor(tensor, widening)
    for attribute in attributes_of(copy):
        if attribute.type == AttributeProto.TENSOR:
            _widen_tensor(attribute.t, widening)
        if attribute.name in ELEMENT_TYPE_ATTRIBUTES:
            attribute.i = widening.get(attribute.i, attribute.i)


def attributes_of(file: onnx.ModelProto) -> Iterator[Any]:
    """Yield the attributes of all nodes: of the graph, of the graphs inside its control flow, and of functions."""
    for body in (file.graph, *file.functions):
        for graph in _graphs(body):
            for node in graph.node:
                yield from node.attribute


def widened_inputs(inputs: Mapping[str, Array]) -> dict[str, Array]:
    half = DType.BFLOAT16.numpy
    return {name: array.astype(np.float32) if array.dtype == half else array for name, array in inputs.items()}


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield the graph and the graphs inside its control flow."""
    yield graph
    for attribute in (each for node in graph.node for each in node.attribute):
        for body in (attribute.g, *attribute.graphs):
            yield from _graphs(body)


def _widen_type(type: Any, widening: Widening) -> None:
    while type.HasField("sequence_type") or type.HasField("optional_type"):
        type = type.sequence_type.elem_type if type.HasField("sequence_type") else type.optional_type.elem_type
    if type.HasField("tensor_type"):
        element = type.tensor_type.elem_type
        type.tensor_type.elem_type = widening.get(element, element)


def _widen_tensor(tensor: Any, widening: Widening) -> None:
    if (wide := widening.get(tensor.data_type)) is not None:
        dtype = helper.tensor_dtype_to_np_dtype(wide)
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(dtype), tensor.name))
