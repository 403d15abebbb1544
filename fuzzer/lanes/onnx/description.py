"""The ONNX file that a lane imports as plain data (`generators.onnx.model`) in one array of bytes, for reports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.onnx.imported_file import file_of_lane
from generators.graph import Case
from generators.onnx.model import (
    ELEMENTS,
    MAX_BYTES,
    Attribute,
    Body,
    Function,
    Node,
    OnnxModel,
    Tensor,
    Value,
    encode,
)
from generators.onnx.small_types import SMALL_TYPES
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


class NoDescription(Exception):
    """The file contains something that `OnnxModel` cannot represent."""

    __module__ = "fuzzer.lanes.onnx_description"  # the name in findings that are saved


class OnnxFileLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        file = file_of_lane(prepared, spec)
        step(Stage.VERIFY)
        return Ran((np.frombuffer(encode(described(file)), np.uint8),))


def described(file: onnx.ModelProto) -> OnnxModel:
    """Convert a file to plain data.

    Raise `NoDescription`, or ValueError (from msgspec) for an element type that lanes do not use."""
    graph = file.graph
    if graph.sparse_initializer or file.ByteSize() > MAX_BYTES:
        raise NoDescription("sparse tensors, or too many bytes")
    weights = {item.name for item in graph.initializer}
    return OnnxModel(
        file.ir_version,
        _opsets(file.opset_import),
        tuple(_value(item) for item in graph.input if item.name not in weights),
        tuple(_value(item) for item in graph.output),
        tuple(_node(node) for node in graph.node),
        {item.name: _tensor(item) for item in graph.initializer},
        tuple(_function(each) for each in file.functions),
    )


def _opsets(imported: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {each.domain: each.version for each in imported}


def _function(each: onnx.FunctionProto) -> Function:
    if each.attribute or each.attribute_proto:
        raise NoDescription(f"attributes of the function {each.name!r}")
    nodes = tuple(_node(node) for node in each.node)
    return Function(each.name, each.domain, tuple(each.input), tuple(each.output), nodes, _opsets(each.opset_import))


def _body(graph: onnx.GraphProto, name: str) -> Body:
    if graph.sparse_initializer:
        raise NoDescription(f"attribute {name!r}: a subgraph with sparse tensors")
    return Body(
        tuple(_node(node) for node in graph.node),
        tuple(_value(item) for item in graph.output),
        tuple(_value(item) for item in graph.input),
        {item.name: _tensor(item) for item in graph.initializer},
    )


def _value(item: onnx.ValueInfoProto) -> Value:
    if item.HasField("type") and not item.type.HasField("tensor_type"):
        raise NoDescription(f"{item.name!r} is no tensor")
    tensor = item.type.tensor_type
    if not tensor.elem_type:
        return Value(item.name, None, None)
    dims = (dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor.shape.dim)
    return Value(item.name, _element(tensor.elem_type), tuple(dims) if tensor.HasField("shape") else None)


def _node(node: onnx.NodeProto) -> Node:
    attributes = tuple(_attribute(item) for item in node.attribute)
    return Node(node.op_type, tuple(node.input), tuple(node.output), attributes, node.name, node.domain)


def _attribute(item: AttributeProto) -> Attribute:
    value: Any = helper.get_attribute_value(item)
    match item.type:
        case AttributeProto.TENSOR:
            return Attribute(item.name, tensor=_tensor(value))
        case AttributeProto.GRAPH:
            return Attribute(item.name, body=_body(value, item.name))
        case AttributeProto.STRING:
            return Attribute(item.name, value.decode())
        case AttributeProto.STRINGS if value:
            return Attribute(item.name, tuple(each.decode() for each in value))
        case AttributeProto.INT:
            return Attribute(item.name, value)
        case AttributeProto.INTS:
            return Attribute(item.name, tuple(value))
        case AttributeProto.FLOAT | AttributeProto.FLOATS:
            numbers = tuple(value) if item.type == AttributeProto.FLOATS else (value,)
            if numbers and all(map(math.isfinite, numbers)):  # JSON has no others
                return Attribute(item.name, numbers if item.type == AttributeProto.FLOATS else value)
    raise NoDescription(f"attribute {item.name!r}")


def _tensor(item: TensorProto) -> Tensor:
    element = _element(item.data_type)
    if element not in (*ELEMENTS, *SMALL_TYPES):
        raise NoDescription(f"a tensor of {element.lower()}")
    array = numpy_helper.to_array(item)
    return Tensor(element, tuple(array.shape), np.ascontiguousarray(array).tobytes())


def _element(number: int) -> Any:
    return TensorProto.DataType.Name(number)
