"""From a file as plain data (`generators.onnx.model`) to the objects of the onnx package."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from generators.onnx.model import Attribute, Body, Function, Node, OnnxModel, Tensor, Value


def to_proto(model: OnnxModel) -> onnx.ModelProto:
    graph = helper.make_graph(
        [_node(node) for node in model.nodes],
        "graph",
        [_value(item) for item in model.inputs],
        [_value(item) for item in model.outputs],
        [_tensor(item, name) for name, item in model.initializers.items()],
    )
    return helper.make_model(
        graph,
        ir_version=model.ir_version,
        opset_imports=_opsets(model.opsets),
        functions=[_function(each) for each in model.functions],
    )


def _opsets(opsets: dict[str, int]) -> Iterable[onnx.OperatorSetIdProto]:
    return [helper.make_opsetid(domain, version) for domain, version in opsets.items()]


def _node(node: Node) -> onnx.NodeProto:
    made = helper.make_node(node.op, node.inputs, node.outputs, node.name or None, domain=node.domain or None)
    made.attribute.extend(_attribute(each) for each in node.attributes)
    return made


def _attribute(item: Attribute) -> AttributeProto:
    if item.tensor is not None:
        return helper.make_attribute(item.name, _tensor(item.tensor))
    if item.body is not None:
        return helper.make_attribute(item.name, _body(item.body, item.name))
    empty = {"attr_type": AttributeProto.INTS} if item.value == () else {}  # an empty list has no type of its own
    return helper.make_attribute(item.name, item.value, **empty)


def _body(body: Body, name: str) -> onnx.GraphProto:
    return helper.make_graph(
        [_node(node) for node in body.nodes],
        name,
        [_value(item) for item in body.inputs],
        [_value(item) for item in body.outputs],
        [_tensor(item, own) for own, item in body.initializers.items()],
    )


def _function(each: Function) -> onnx.FunctionProto:
    return helper.make_function(
        each.domain, each.name, each.inputs, each.outputs, [_node(node) for node in each.nodes], _opsets(each.opsets)
    )


def _tensor(item: Tensor, name: str = "") -> TensorProto:
    return numpy_helper.from_array(item.array, name)


def _value(item: Value) -> onnx.ValueInfoProto:
    if item.element is None:
        return helper.make_empty_tensor_value_info(item.name)
    shape = None if item.shape is None else list(item.shape)
    return helper.make_tensor_value_info(item.name, TensorProto.DataType.Value(item.element), shape)
