"""Values for the part of `repro.py` that builds an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fuzzer.report.repro_values import NUMPY, literal
from fuzzer.report.script_source import NOTHING, Source, joined, listed, literal_of, name, quoted, source
from generators.onnx.model import Attribute, Body, Function, Node, OnnxModel, Tensor, Value, all_nodes
from generators.onnx.operator import DTYPE_ATTRIBUTES, ELEMENT_TYPE_ATTRIBUTES
from generators.onnx.source import NUMBER_OF, File


@dataclass(frozen=True, slots=True)
class FileExpressions:
    """Python expressions for the parts of a file.

    values     the inputs by name, in the order of TVM's main; "" where the script runs nothing on them
    converted  the opset that the finished model is converted to, or None
    compared   whether the script compares results; otherwise the checker sees the model
    evaluated  whether it compares with the results of the onnx package's evaluator, because onnxruntime does not run
               the model; otherwise with those of onnxruntime
    bfloat16   whether the model computes with bfloat16, for which onnxruntime has few kernels: it gets the model in
               float32, and its results are rounded
    names_it   the attributes whose number stands for bfloat16
    """

    nodes: Source
    inputs: Source
    outputs: Source
    initializers: Source
    functions: Source
    ir_version: int
    opsets: Source
    values: Source
    converted: int | None
    compared: bool
    evaluated: bool
    bfloat16: bool
    names_it: Source


def parts(
    file: File, *, converted: int | None = None, compares: bool = True, runs: bool = True, evaluated: bool = False
) -> FileExpressions:
    """`compares`: the script compares results, with those of onnxruntime or with those of the evaluator (`evaluated`).
    `runs`: it runs the model on its inputs."""
    model = file.model
    values = [source("{}: {}", quoted(name), literal(array, NUMPY)) for name, array in file.inputs.items()]
    return FileExpressions(
        _rows(_node(node) for node in model.nodes),
        _rows(_value(item) for item in model.inputs),
        _rows(_value(item) for item in model.outputs),
        _rows(_initializer(name, tensor) for name, tensor in model.initializers.items()),
        _rows(_function(each) for each in model.functions),
        model.ir_version,
        _opsets(model.opsets),
        source("{{{}}}", joined(", ", values)) if runs or compares else NOTHING,
        converted,
        compares,
        evaluated,
        _has_bfloat16(model),
        _names_bfloat16(model),
    )


def _has_bfloat16(model: OnnxModel) -> bool:
    attributes = [each for node in all_nodes(model) for each in node.attributes]
    tensors = [*model.initializers.values(), *(each.tensor for each in attributes if each.tensor)]
    tensors += [item for each in attributes if each.body for item in each.body.initializers.values()]
    elements = {each.element for each in (*model.inputs, *model.outputs)} | {each.element for each in tensors}
    return "BFLOAT16" in elements or any(_is_bfloat16(each) for each in attributes if each.name in DTYPE_ATTRIBUTES)


def _names_bfloat16(model: OnnxModel) -> Source:
    names = [each.name for node in all_nodes(model) for each in node.attributes if _is_bfloat16(each)]
    return listed(sorted({quoted(name) for name in names if name in ELEMENT_TYPE_ATTRIBUTES}))


def _is_bfloat16(attribute: Attribute) -> bool:
    return attribute.value == NUMBER_OF["BFLOAT16"]


def _rows(items: Iterable[Source]) -> Source:
    """A list with one item on each line."""
    rows = list(items)
    if len(rows) < 2:
        return listed(rows)
    return source("[\n{}    ]", joined("", (source("        {},\n", row) for row in rows)))


def _opsets(opsets: dict[str, int]) -> Source:
    return listed(source("helper.make_opsetid({}, {})", quoted(name), version) for name, version in opsets.items())


def _value(item: Value) -> Source:
    if item.element is None:
        return source("helper.make_empty_tensor_value_info({})", quoted(item.name))
    shape, element = literal_of(None if item.shape is None else list(item.shape)), name(item.element)
    return source("helper.make_tensor_value_info({}, TensorProto.{}, {})", quoted(item.name), element, shape)


def _node(node: Node) -> Source:
    names = literal_of(list(node.inputs)), literal_of(list(node.outputs))
    if any(item.value == () for item in node.attributes):
        return _node_with_an_empty_list(node, *names)
    parts = [quoted(node.op), *names, *_domain(node)]
    parts += [source("{}={}", name(item.name), _attribute(item)) for item in node.attributes]
    return source("helper.make_node({})", joined(", ", parts))


def _domain(node: Node) -> list[Source]:
    return [source("domain={}", quoted(node.domain))] if node.domain else []


def _node_with_an_empty_list(node: Node, inputs: Source, outputs: Source) -> Source:
    """helper.make_node cannot tell the type of a list without items."""
    made = [
        source(
            "helper.make_attribute({}, {}{})",
            quoted(item.name),
            _attribute(item),
            _INTS if item.value == () else NOTHING,
        )
        for item in node.attributes
    ]
    parts = [source("op_type={}, input={}, output={}", quoted(node.op), inputs, outputs), *_domain(node)]
    return source("onnx.NodeProto({}, attribute={})", joined(", ", parts), listed(made))


_INTS = source(", attr_type=onnx.AttributeProto.INTS")


def _attribute(item: Attribute) -> Source:
    if item.tensor:
        return _tensor(item.tensor)
    if item.body:
        return _body(item.body, item.name)
    if isinstance(item.value, tuple):
        return listed([_scalar(each) for each in item.value])
    return _scalar(item.value)


def _body(body: Body, name: str) -> Source:
    """A subgraph, such as a branch of If. It reads values of the graph around it, too."""
    nodes = listed([_node(node) for node in body.nodes])
    inputs, outputs = (listed([_value(item) for item in items]) for items in (body.inputs, body.outputs))
    parts = [nodes, quoted(name), inputs, outputs]
    if body.initializers:
        parts.append(listed(_initializer(own, tensor) for own, tensor in body.initializers.items()))
    return source("helper.make_graph({})", joined(", ", parts))


def _function(each: Function) -> Source:
    names = [quoted(each.domain), quoted(each.name), literal_of(list(each.inputs)), literal_of(list(each.outputs))]
    nodes = listed([_node(node) for node in each.nodes])
    return source("helper.make_function({})", joined(", ", [*names, nodes, _opsets(each.opsets)]))


def _scalar(value: int | float | str) -> Source:
    """A literal. Floats are float32 in the file, so they need only the digits that identify a float32."""
    return literal_of(float(str(np.float32(value))) if isinstance(value, float) else value)


def _initializer(name: str, tensor: Tensor) -> Source:
    return source("numpy_helper.from_array({}, {})", literal(tensor.array, NUMPY), quoted(name))


def _tensor(tensor: Tensor) -> Source:
    return source("numpy_helper.from_array({})", literal(tensor.array, NUMPY))
