"""Values for the part of `repro.py` that builds an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fuzzer.report.python_source import listed, literal_of, quoted
from fuzzer.report.repro_values import NUMPY, literal
from generators.onnx.model import Attribute, Body, Function, Node, OnnxModel, Tensor, Value, all_nodes
from generators.onnx.operator import DTYPE_ATTRIBUTES, ELEMENT_TYPE_ATTRIBUTES
from generators.onnx.source import NUMBER_OF, File


@dataclass(frozen=True, slots=True)
class FileExpressions:
    """Python expressions for the parts of a file.

    values     the inputs by name, in the order of TVM's main; "" where the script runs nothing on them
    converted  the opset that the finished model is converted to, or None
    compared   whether the script compares results with those of onnxruntime; otherwise the checker sees the model
    bfloat16   whether the model computes with bfloat16, for which onnxruntime has few kernels: it gets the model in
               float32, and its results are rounded
    names_it   the attributes whose number stands for bfloat16
    """

    nodes: str
    inputs: str
    outputs: str
    initializers: str
    functions: str
    ir_version: int
    opsets: str
    values: str
    converted: int | None
    compared: bool
    bfloat16: bool
    names_it: str


def parts(file: File, *, converted: int | None = None, compares: bool = True, runs: bool = True) -> FileExpressions:
    """`compares`: the script compares results with those of onnxruntime. `runs`: it runs the model on its inputs."""
    model = file.model
    values = [f"{quoted(name)}: {literal(array, NUMPY)}" for name, array in file.inputs.items()]
    return FileExpressions(
        _rows(_node(node) for node in model.nodes),
        _rows(_value(item) for item in model.inputs),
        _rows(_value(item) for item in model.outputs),
        _rows(_initializer(name, tensor) for name, tensor in model.initializers.items()),
        _rows(_function(each) for each in model.functions),
        model.ir_version,
        _opsets(model.opsets),
        "{" + ", ".join(values) + "}" if runs or compares else "",
        converted,
        compares,
        _has_bfloat16(model),
        _names_bfloat16(model),
    )


def _has_bfloat16(model: OnnxModel) -> bool:
    attributes = [each for node in all_nodes(model) for each in node.attributes]
    tensors = [*model.initializers.values(), *(each.tensor for each in attributes if each.tensor)]
    elements = {each.element for each in (*model.inputs, *model.outputs)} | {each.element for each in tensors}
    return "BFLOAT16" in elements or any(_is_bfloat16(each) for each in attributes if each.name in DTYPE_ATTRIBUTES)


def _names_bfloat16(model: OnnxModel) -> str:
    names = [each.name for node in all_nodes(model) for each in node.attributes if _is_bfloat16(each)]
    return listed(sorted({quoted(name) for name in names if name in ELEMENT_TYPE_ATTRIBUTES}))


def _is_bfloat16(attribute: Attribute) -> bool:
    return attribute.value == NUMBER_OF["BFLOAT16"]


def _rows(items: Iterable[str]) -> str:
    """A list with one item on each line."""
    rows = list(items)
    if len(rows) < 2:
        return listed(rows)
    return "[\n" + "".join(f"        {row},\n" for row in rows) + "    ]"


def _opsets(opsets: dict[str, int]) -> str:
    return listed([f"helper.make_opsetid({quoted(name)}, {version})" for name, version in opsets.items()])


def _value(item: Value) -> str:
    shape = literal_of(list(item.shape))
    return f"helper.make_tensor_value_info({quoted(item.name)}, TensorProto.{item.element}, {shape})"


def _node(node: Node) -> str:
    names = literal_of(list(node.inputs)), literal_of(list(node.outputs))
    if any(item.value == () for item in node.attributes):
        return _node_with_an_empty_list(node, *names)
    parts = [quoted(node.op), *names, *([f"domain={quoted(node.domain)}"] if node.domain else [])]
    parts += [f"{item.name}={_attribute(item)}" for item in node.attributes]
    return f"helper.make_node({', '.join(parts)})"


def _node_with_an_empty_list(node: Node, inputs: str, outputs: str) -> str:
    """helper.make_node cannot tell the type of a list without items."""
    made = [
        f"helper.make_attribute({quoted(item.name)}, {_attribute(item)}{_INTS if item.value == () else ''})"
        for item in node.attributes
    ]
    parts = [f"op_type={quoted(node.op)}", f"input={inputs}", f"output={outputs}"]
    parts += [f"domain={quoted(node.domain)}"] if node.domain else []
    return f"onnx.NodeProto({', '.join([*parts, f'attribute={listed(made)}'])})"


_INTS = ", attr_type=onnx.AttributeProto.INTS"


def _attribute(item: Attribute) -> str:
    if item.tensor:
        return _tensor(item.tensor)
    if item.body:
        return _body(item.body, item.name)
    if isinstance(item.value, tuple):
        return listed([_scalar(each) for each in item.value])
    return _scalar(item.value)


def _body(body: Body, name: str) -> str:
    """A subgraph, such as a branch of If. It reads values of the graph around it."""
    nodes, outputs = listed([_node(node) for node in body.nodes]), listed([_value(item) for item in body.outputs])
    return f"helper.make_graph({nodes}, {quoted(name)}, [], {outputs})"


def _function(each: Function) -> str:
    names = [quoted(each.domain), quoted(each.name), literal_of(list(each.inputs)), literal_of(list(each.outputs))]
    nodes = listed([_node(node) for node in each.nodes])
    return f"helper.make_function({', '.join([*names, nodes, _opsets(each.opsets)])})"


def _scalar(value: int | float | str) -> str:
    """A literal. Floats are float32 in the file, so they need only the digits that identify a float32."""
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return literal_of(float(str(np.float32(value))) if isinstance(value, float) else value)


def _initializer(name: str, tensor: Tensor) -> str:
    return _tensor(tensor).removesuffix(")") + f", {quoted(name)})"


def _tensor(tensor: Tensor) -> str:
    return f"numpy_helper.from_array({literal(tensor.array, NUMPY)})"
