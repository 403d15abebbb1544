"""The part of `repro.py` that builds an ONNX file as it was exported and folded, and asks onnxruntime what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fuzzer.onnx_model import Attribute, Node, OnnxModel, Tensor, Value
from fuzzer.report.python_source import listed, quoted
from fuzzer.report.repro_values import NUMPY, literal
from generators.graph import Case

_MODEL = """
graph = helper.make_graph(
    nodes=@NODES@,
    name="main",
    inputs=@INPUTS@,
    outputs=@OUTPUTS@,
    initializer=@INITIALIZERS@,
)
model = helper.make_model(graph, ir_version=@IR@, opset_imports=@OPSETS@)
inputs = @VALUES@

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
expected = session.run(None, inputs)
"""


def model(file: OnnxModel, case: Case) -> list[str]:
    """`model`, `inputs` by name, and `expected`. onnxruntime optimises nothing, as where it was asked before."""
    parts = {
        "@NODES@": _rows(_node(node) for node in file.nodes),
        "@INPUTS@": _rows(_value(item) for item in file.inputs),
        "@OUTPUTS@": _rows(_value(item) for item in file.outputs),
        "@INITIALIZERS@": _rows(_initializer(name, tensor) for name, tensor in file.initializers.items()),
        "@IR@": str(file.ir_version),
        "@OPSETS@": listed(
            [f"helper.make_opsetid({quoted(name)}, {version})" for name, version in file.opsets.items()]
        ),
        "@VALUES@": _named(file.inputs, case),
    }
    text = _MODEL
    for name, part in parts.items():
        text = text.replace(name, part)
    return [text.replace("    initializer=[],\n", "")]


def _rows(items: Iterable[str]) -> str:
    """A list over several lines, so that each node has its own."""
    rows = list(items)
    if len(rows) < 2:
        return listed(rows)
    return "[\n" + "".join(f"        {row},\n" for row in rows) + "    ]"


def _named(inputs: Sequence[Value], case: Case) -> str:
    """In the order of the file, which is that of TVM's main."""
    return "{" + ", ".join(f"{quoted(item.name)}: {literal(case.tensors[item.name], NUMPY)}" for item in inputs) + "}"


def _value(item: Value) -> str:
    shape = listed([quoted(size) if isinstance(size, str) else str(size) for size in item.shape])
    return f"helper.make_tensor_value_info({quoted(item.name)}, TensorProto.{item.element}, {shape})"


def _node(node: Node) -> str:
    parts = [quoted(node.op), _strings(node.inputs), _strings(node.outputs)]
    parts += [f"domain={quoted(node.domain)}"] if node.domain else []
    parts += [f"{item.name}={_attribute(item)}" for item in node.attributes]
    return f"helper.make_node({', '.join(parts)})"


def _strings(names: Sequence[str]) -> str:
    return listed([quoted(name) for name in names])


def _attribute(item: Attribute) -> str:
    if item.tensor:
        return _tensor(item.tensor)
    if isinstance(item.value, tuple):
        return listed([_scalar(each) for each in item.value])
    return _scalar(item.value)


def _scalar(value: int | float | str) -> str:
    """Floats are float32 in the file: so many digits say them exactly."""
    if isinstance(value, str):
        return quoted(value)
    return str(float(str(np.float32(value)))) if isinstance(value, float) else str(value)


def _initializer(name: str, tensor: Tensor) -> str:
    return _tensor(tensor).removesuffix(")") + f", {quoted(name)})"


def _tensor(tensor: Tensor) -> str:
    return f"numpy_helper.from_array({literal(tensor.array, NUMPY)})"
