"""Functions of one number at a time, and Identity."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO, POSITIVE, Domain, within
from generators.graph import Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.guard import bounded
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import FLAG, Operands, one, same_type, tensor
from generators.onnx.schema import Schema
from generators.op import NO_ZEROS, Arithmetic, ZeroSensitivity, zeros_of
from generators.operator_class import OperatorClass


def _within(low: float, high: float, domain: Domain) -> Operands:
    """A value whose numbers are between the bounds, or an input in a domain within them."""

    def operands(b: Builder, schema: Schema) -> Sequence[Value]:
        return (bounded(b, tensor(b, schema, schema.inputs[0].name), low, high, domain),)

    return operands


def _nonzero(b: Builder, schema: Schema) -> Sequence[Value]:
    value = tensor(b, schema, schema.inputs[0].name)
    return (bounded(b, value, *b.source.choice(((0.5, 8.0), (-8.0, -0.5))), NONZERO),)


def one_term(call: Call) -> int:
    """The operator rounds each element of its result once."""
    return 1


def _function(
    name: str,
    operands: Operands = one(),
    *,
    scale: float = 0.0,
    arithmetic: Arithmetic = Arithmetic.FUNCTION,
    zeros: ZeroSensitivity = NO_ZEROS,
    plainer: str = "Tanh",
) -> Operator:
    """A function that is rounded once, whose result has the type of its operand."""
    return Operator(
        name,
        operands,
        same_type,
        terms=one_term,
        scale=scale,
        arithmetic=arithmetic,
        zero_sensitivity=zeros,
        plainer=plainer,
    )


def _exact(name: str, plainer: str | None) -> Operator:
    return Operator(name, one(), same_type, plainer=plainer)


def _truth(call: Call) -> TensorType:
    return call.first.with_dtype(DType.BOOL)


def _signs(source: ChoiceSource, call: Call) -> Attrs:
    return {"detect_negative": source.integer(0, 1), "detect_positive": source.integer(0, 1)}


_UP_TO_8 = _within(-8.0, 8.0, within(-8, 8))
_UP_TO_1 = _within(-1.0, 1.0, within(-1, 1))

OPERATORS: tuple[Operator, ...] = (
    # exact
    _exact("Neg", None),
    _exact("Abs", "Neg"),
    _exact("Sign", "Abs"),
    _exact("Floor", "Tanh"),
    _exact("Ceil", "Tanh"),
    _exact("BitwiseNot", "Neg"),
    _exact("Not", None),
    _exact("Round", "Tanh"),
    Operator("IsNaN", one(), _truth, plainer=None),
    Operator("IsInf", one(), _truth, _signs, kinds={"detect_negative": FLAG, "detect_positive": FLAG}, plainer="IsNaN"),
    Operator("Identity", one(), same_type, moves=True),
    # defined for all numbers
    _function("Tanh", plainer="Relu"),
    _function("Sin"),
    _function("Cos"),
    _function("Tan"),
    _function("Asinh", scale=1.0),
    _function("Atan"),
    _function("Erf"),
    # defined for some numbers, or too large for others
    _function("Exp", _UP_TO_8),
    _function("Sinh", _UP_TO_8, scale=1.0),
    _function("Cosh", _UP_TO_8),
    _function("Log", _within(0.125, 2.0**20, POSITIVE)),
    _function("Sqrt", _within(0.0, 2.0**20, within(0, 16)), arithmetic=Arithmetic.ONE_STEP).of_class(
        OperatorClass.SQUARE_ROOT
    ),
    _function("Reciprocal", _nonzero, arithmetic=Arithmetic.ONE_STEP, zeros=zeros_of(0)),
    _function("Acos", _UP_TO_1, scale=1.0),
    _function("Asin", _UP_TO_1),
    _function("Acosh", _within(1.0, 2.0**20, within(1, 17)), scale=1.0),
    _function("Atanh", _within(-0.9375, 0.9375, within(-1, 1)), scale=1.0),
)
