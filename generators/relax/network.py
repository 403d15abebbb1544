"""A small network of Relax that every lane supports."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attr, Case, DType, Form, TensorType, Value
from generators.random_graph import with_values
from generators.relax.dialect import DIALECT
from generators.relax.ops import TABLE


def network() -> Case:
    b = Builder(NumpySource(0), dialect=DIALECT.name)

    def node(name: str, *args: Value, form: Form = Form.PLAIN, **attrs: Attr) -> Value:
        row = TABLE[f"relax.{name}"]
        return b.emit(row, args, {**row.defaults, **attrs}, form)[0]

    x = b.fresh_input(TensorType(DType.FLOAT32, (1, 2, 6, 6)))
    x = node(
        "nn.conv2d",
        x,
        b.param(DType.FLOAT32, 3, 2, 3, 3),
        groups=1,
        strides=(1, 1),
        dilation=(1, 1),
        padding=(0, 0, 0, 0),
        out_dtype=None,
    )
    x = node("reshape", node("nn.relu", x, form=Form.SUBROUTINE), shape=(1, -1))
    x = node("matmul", x, b.param(DType.FLOAT32, 48, 4), out_dtype=None)
    x = node("add", x, b.param(DType.FLOAT32, 4), form=Form.TUPLE)
    node("nn.softmax", x, axis=-1)
    return with_values(b, "warm-up")
