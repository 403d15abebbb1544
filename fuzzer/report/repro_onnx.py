"""Values for the part of `repro.py` that builds an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fuzzer.report.python_source import listed, literal_of, quoted
from fuzzer.report.repro_values import NUMPY, literal
from generators.graph import Case
from generators.onnx.model import Attribute, Node, OnnxModel, Tensor, Value


@dataclass(frozen=True, slots=True)
class FileExpressions:
    """Python expressions for the parts of a file. `values` are the inputs by name, in the order of TVM's main."""

    nodes: str
    inputs: str
    outputs: str
    initializers: str
    ir_version: int
    opsets: str
    values: str


def parts(file: OnnxModel, case: Case) -> FileExpressions:
    values = [f"{quoted(item.name)}: {literal(case.tensors[item.name], NUMPY)}" for item in file.inputs]
    return FileExpressions(
        _rows(_node(node) for node in file.nodes),
        _rows(_value(item) for item in file.inputs),
        _rows(_value(item) for item in file.outputs),
        _rows(_initializer(name, tensor) for name, tensor in file.initializers.items()),
        file.ir_version,
        listed([f"helper.make_opsetid({quoted(name)}, {version})" for name, version in file.opsets.items()]),
        "{" + ", ".join(values) + "}",
    )


def _rows(items: Iterable[str]) -> str:
    """A list with one item on each line."""
    rows = list(items)
    if len(rows) < 2:
        return listed(rows)
    return "[\n" + "".join(f"        {row},\n" for row in rows) + "    ]"


def _value(item: Value) -> str:
    shape = literal_of(list(item.shape))
    return f"helper.make_tensor_value_info({quoted(item.name)}, TensorProto.{item.element}, {shape})"


def _node(node: Node) -> str:
    parts = [quoted(node.op), literal_of(list(node.inputs)), literal_of(list(node.outputs))]
    parts += [f"domain={quoted(node.domain)}"] if node.domain else []
    parts += [f"{item.name}={_attribute(item)}" for item in node.attributes]
    return f"helper.make_node({', '.join(parts)})"


def _attribute(item: Attribute) -> str:
    if item.tensor:
        return _tensor(item.tensor)
    if isinstance(item.value, tuple):
        return listed([_scalar(each) for each in item.value])
    return _scalar(item.value)


def _scalar(value: int | float | str) -> str:
    """A literal. Floats are float32 in the file, so they need only the digits that identify a float32."""
    return literal_of(float(str(np.float32(value))) if isinstance(value, float) else value)


def _initializer(name: str, tensor: Tensor) -> str:
    return _tensor(tensor).removesuffix(")") + f", {quoted(name)})"


def _tensor(tensor: Tensor) -> str:
    return f"numpy_helper.from_array({literal(tensor.array, NUMPY)})"
