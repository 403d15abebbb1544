"""Operands that broadcast with each other."""

from __future__ import annotations

from generators.builder import SIZES, Builder
from generators.graph import DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.ops.operands import partner, tensor
from generators.onnx.schema import Schema


def another(b: Builder, value: Value, dtype: DType) -> Value:
    """A value of the dtype that broadcasts with this one; sometimes larger in dimensions of size 1."""
    if b.source.rarely(15):
        shape = tuple(
            b.source.choice(SIZES) if size == 1 else 1 if b.source.chance(40) else size for size in value.type.sizes
        )
        return b.fresh_input(TensorType(dtype, shape))
    return partner(b, value.type, dtype)


def pair(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Two values of one dtype that broadcast; in a quarter of the calls the second one is the larger."""
    first = tensor(b, schema, schema.inputs[0].name)
    second = another(b, first, first.type.dtype)
    return (second, first) if b.source.chance(25) else (first, second)


def several(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """One to five values of one dtype that broadcast, in any order; before opset 8 all of one shape."""
    first = tensor(b, schema, schema.inputs[0].name)
    count = b.source.choice((1, 2, 2, 2, 3, 3, 4, 5))
    if schema.since < 8:
        return (first, *(b.pick(lambda t: t == first.type, lambda: first.type) for _ in range(count - 1)))
    return tuple(b.source.shuffled([first, *(another(b, first, first.type.dtype) for _ in range(count - 1))]))


def two_terms(call: Call) -> int:
    """Two terms: a rounded intermediate result may cancel with another, or lie on either side of a step."""
    return 2
