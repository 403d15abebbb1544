"""A small network of ONNX, of operators that its readers and TVM have."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attr, Case, DType, TensorType, Value
from generators.onnx.dialect import DIALECT
from generators.onnx.rows import at_opset
from generators.random_graph import with_values


def network() -> Case:
    b = Builder(NumpySource(0), dialect=DIALECT.name, opset=17)

    def node(name: str, *args: Value, **attrs: Attr) -> Value:
        row = at_opset(name, 17)
        return b.emit(row, args, {**dict.fromkeys(row.schema), **attrs})[0]

    x = b.fresh_input(TensorType(DType.FLOAT32, (1, 2, 6, 6)))
    x = node("Conv", x, b.param(DType.FLOAT32, 3, 2, 3, 3), inputs=(True, True, False))
    x = node("Reshape", node("Relu", x), shape=(1, -1))
    x = node("Gemm", x, b.param(DType.FLOAT32, 48, 4), b.param(DType.FLOAT32, 4), inputs=(True, True, True))
    node("Softmax", x, axis=-1)
    return with_values(b, "warm-up")
