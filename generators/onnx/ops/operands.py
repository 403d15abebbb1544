"""Functions that choose the operands of a call, and types that many operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from generators.builder import Builder
from generators.domain import ANY, Domain, within
from generators.graph import DType, Role, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.forms import may_hold
from generators.onnx.schema import Schema, helpers_dtypes
from generators.op import AttrKind
from generators.shared.sizes import broadcast

Operands = Callable[[Builder, Schema], Sequence[Value] | None]
FLAG = AttrKind("0 or 1", lambda v: isinstance(v, int) and not isinstance(v, bool) and v in (0, 1))


def dtype_for(b: Builder, schema: Schema, name: str) -> DType:
    """Draw a dtype that an input may have: float32 mostly, as in models."""
    return b.dtype(_dtypes(b, schema, name))


def tensor(b: Builder, schema: Schema, name: str, ranks: tuple[int, int] = (0, 5)) -> Value:
    """Pick a value that an input may have, with a rank in the range (both ends included)."""
    return b.tensor(_dtypes(b, schema, name), ranks)


def _dtypes(b: Builder, schema: Schema, name: str) -> tuple[DType, ...]:
    """The dtypes that an input may have. Operators of another domain than onnx's take bfloat16 at each opset, but files
    need an Identity for outputs, which older opsets have not for bfloat16."""
    dtypes = schema.dtypes(name)
    return tuple(dtype for dtype in dtypes if dtype in helpers_dtypes("Identity", b.opset)) if schema.domain else dtypes


def tensor_of_model(b: Builder, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
    """Add a tensor that a model mostly has: an initializer, else the result of a node Constant or an input. Sometimes
    return an existing initializer of this type."""
    percentile = b.source.integer(1, 100)
    if percentile <= 60:
        return b.param(dtype, *shape, domain=domain)
    role = Role.BUFFER if percentile <= 75 and may_hold(b.opset, dtype) else Role.INPUT
    return b.fresh_input(TensorType(dtype, shape), role, domain)


def one(ranks: tuple[int, int] = (0, 5)) -> Operands:
    """The operator's only operand."""
    return lambda b, schema: (tensor(b, schema, schema.inputs[0].name, ranks),)


def partner(b: Builder, type: TensorType, dtype: DType) -> Value:
    """A value of a dtype that broadcasts with `type` without growing it."""

    def fits(other: TensorType) -> bool:
        return other.dtype == dtype and other.rank <= type.rank and _within(other.sizes, type.sizes)

    return b.pick(fits, lambda: TensorType(dtype, thinned(b, type.sizes)))


def _within(sizes: Sequence[int], other: Sequence[int]) -> bool:
    pairs = zip(reversed(sizes), reversed(other), strict=False)
    return all(mine in (1, theirs) for mine, theirs in pairs)


def thinned(b: Builder, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, with some leading dimensions left out and some sizes set to 1."""
    if b.source.chance(50):
        return shape
    kept = shape[b.source.integer(0, len(shape)) :]
    return tuple(1 if b.source.chance(30) else size for size in kept)


def scalar(b: Builder, dtype: DType, domain: Domain = ANY) -> Value:
    """A 0-d tensor of the model."""
    return tensor_of_model(b, dtype, domain=domain)


def exactly(b: Builder, dtype: DType, number: int, *shape: int) -> Value:
    """A tensor of the model all of whose numbers are this one."""
    return b.fresh_input(TensorType(dtype, shape), Role.PARAM, within(number, number))


def same_type(call: Call) -> TensorType:
    """The result has the type of the first operand."""
    return call.first


def broadcast_of(call: Call) -> TensorType:
    """The result has the dtype of the first operand, and the broadcast shape of all."""
    return call.first.with_shape(*broadcast(*(type.sizes for type in call.types)))


def float32(value: float) -> float:
    """The nearest number that float32 has: attributes of a file have no others."""
    return float(np.float32(value))
