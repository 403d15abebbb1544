"""Replace bfloat16 by float32 in an ONNX file, because onnxruntime has few bfloat16 kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

from generators.graph import Array, DType

DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "stash_type")
"""Attributes of ONNX operators that name an element type."""


def widened(file: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy with float32 in place of bfloat16. The names of inputs and outputs stay."""
    copy = onnx.ModelProto()
    copy.CopyFrom(file)
    for graph in _graphs(copy.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            _widen_type(value.type)
        for tensor in graph.initializer:
            _widen_tensor(tensor)
    for nodes in (*(graph.node for graph in _graphs(copy.graph)), *(function.node for function in copy.functions)):
        for attribute in (each for node in nodes for each in node.attribute):
            if attribute.type == AttributeProto.TENSOR:
                _widen_tensor(attribute.t)
            if attribute.name in DTYPE_ATTRIBUTES and attribute.i == TensorProto.BFLOAT16:
                attribute.i = TensorProto.FLOAT
    return copy


def widened_inputs(inputs: Mapping[str, Array]) -> dict[str, Array]:
    half = DType.BFLOAT16.numpy
    return {name: array.astype(np.float32) if array.dtype == half else array for name, array in inputs.items()}


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield the graph and the graphs inside its control flow."""
    yield graph
    for attribute in (each for node in graph.node for each in node.attribute):
        for body in (attribute.g, *attribute.graphs):
            yield from _graphs(body)


def _widen_type(type: Any) -> None:
    while type.HasField("sequence_type") or type.HasField("optional_type"):
        type = type.sequence_type.elem_type if type.HasField("sequence_type") else type.optional_type.elem_type
    if type.HasField("tensor_type") and type.tensor_type.elem_type == TensorProto.BFLOAT16:
        type.tensor_type.elem_type = TensorProto.FLOAT


def _widen_tensor(tensor: Any) -> None:
    if tensor.data_type == TensorProto.BFLOAT16:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
