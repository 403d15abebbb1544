"""Conversions to another dtype."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.guard import finite
from generators.onnx.operator import Operator
from generators.onnx.ops.elementwise import one_term
from generators.onnx.ops.operands import tensor
from generators.onnx.schema import Schema
from generators.op import INT, ZEROS_WHERE_BOOL, Arithmetic, AttrKind, one_of, require
from generators.undefined import convertible

_FLOAT8 = {"saturate": AttrKind("1", lambda v: v == 1 and INT.accepts(v)), "round_mode": one_of("up")}


def _castable(b: Builder, schema: Schema) -> Sequence[Value]:
    """Floats are in a range from which the conversion to each signed integer is defined (`generators.undefined`)."""
    value = tensor(b, schema, "input")
    return (finite(b, value, *convertible(DType.INT8)) if value.type.dtype.is_float else value,)


def _cast(call: Call) -> TensorType:
    dtype = DType(call.text("to"))
    require(dtype in call.schema.types["T2"], f"{call.schema.row} has no {dtype}")
    return call.first.with_dtype(dtype)


def _to(source: ChoiceSource, call: Call) -> Attrs:
    """Negative floats have no defined conversion to uint8. CastLike converts positive ones to it."""
    dtypes = [dtype for dtype in call.schema.types["T2"] if dtype is not DType.UINT8 or not call.first.dtype.is_float]
    return {"to": source.choice(dtypes).value, **_of_float8(source, call)}


def _of_float8(source: ChoiceSource, call: Call) -> Attrs:
    """Attributes for conversions to numbers of eight bits and fewer, which cases do not have: onnxruntime refuses
    others than the defaults, and the interpreter of onnx refuses a `round_mode` of CastLike."""
    names = ("saturate",) if call.schema.name == "CastLike" else ("saturate", "round_mode")
    return {name: call.schema.attributes[name].default for name in names if call.has(name)}


def _value_and_model(b: Builder, schema: Schema) -> Sequence[Value]:
    value, model = tensor(b, schema, "input"), tensor(b, schema, "target_type")
    dtype = model.type.dtype
    if value.type.dtype.is_float and not dtype.is_float:
        value = finite(b, value, *convertible(dtype))
    return value, model


def _cast_like(call: Call) -> TensorType:
    require(call.attrs.get("round_mode") is None, "the interpreter of onnx refuses a round_mode of CastLike")
    return call.first.with_dtype(call["target_type"].dtype)


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Cast",
        _castable,
        _cast,
        _to,
        kinds=_FLOAT8,
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Operator(
        "CastLike",
        _value_and_model,
        _cast_like,
        _of_float8,
        kinds=_FLOAT8,
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
)
