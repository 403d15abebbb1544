"""Operators of several tensors that broadcast: arithmetic, powers, bits, logic, the least and the greatest."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attrs, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.guard import bounded, finite, nonzero
from generators.onnx.operator import Operator
from generators.onnx.ops.elementwise import one_term
from generators.onnx.ops.operands import FLAG, Operands, broadcast_of, dtype_for, tensor
from generators.onnx.ops.pairs import another, pair, several, two_terms
from generators.onnx.schema import Schema
from generators.op import NO_ZEROS, ZEROS_OF_BASE, Arithmetic, ZeroSensitivity, one_of, require, zeros_of
from generators.operator_class import OperatorClass


def _arithmetic(
    name: str,
    arithmetic: Arithmetic,
    plainer: str | None,
    operands: Operands = pair,
    zeros: ZeroSensitivity = NO_ZEROS,
) -> Operator:
    return Operator(
        name,
        operands,
        broadcast_of,
        terms=one_term,
        arithmetic=arithmetic,
        zero_sensitivity=zeros,
        plainer=plainer,
    )


def _exact(name: str, plainer: str | None) -> Operator:
    return Operator(name, pair, broadcast_of, plainer=plainer)


def _of_several(call: Call) -> TensorType:
    """Before opset 8 Sum, Mean, Min and Max do not broadcast."""
    alike = all(type.sizes == call.first.sizes for type in call.types)
    require(alike or call.schema.since >= 8, "the operands must have one shape before opset 8")
    return broadcast_of(call)


def _sum(name: str, plainer: str) -> Operator:
    def terms(call: Call) -> int:
        return len(call.types)

    return Operator(name, several, _of_several, terms=terms, arithmetic=Arithmetic.SUM_IN_ANY, plainer=plainer)


# --- quotients and rests


def _quotient(b: Builder, schema: Schema) -> Sequence[Value]:
    first, second = pair(b, schema)
    return first, nonzero(b, second, first)


def _rest(call: Call) -> TensorType:
    is_fmod = call.integer("fmod") == 1
    require(is_fmod or not call.first.dtype.is_float, "fmod is 1 for floats")
    return broadcast_of(call)


def _fmod(source: ChoiceSource, call: Call) -> Attrs:
    return {"fmod": 1 if call.first.dtype.is_float else source.integer(0, 1)}


# --- powers


def _power(b: Builder, schema: Schema) -> Sequence[Value]:
    """Fractional exponents get a positive base. Integer exponents are not negative: integers would become 0."""
    base = tensor(b, schema, "X")
    dtype = base.type.dtype
    shared = schema.input("X").type == schema.input("Y").type
    exponent = another(b, base, dtype if shared or b.source.chance(60) else dtype_for(b, schema, "Y"))
    if exponent.type.dtype.is_float:
        raised = bounded(b, exponent, -3.0, 3.0, within(-3, 3)) if dtype.is_float else finite(b, exponent, 0, 3)
        return bounded(b, base, 0.25, 4.0, within(1, 4)) if dtype.is_float else finite(b, base, 1, 10), raised
    return finite(b, base, -10, 10), finite(b, exponent, 0, 3)


# --- bits


def _shift(b: Builder, schema: Schema) -> Sequence[Value]:
    """Shifts by less than the number of bits: C++ does not define others."""
    first, second = pair(b, schema)
    return first, finite(b, second, 0, first.type.dtype.bits - 1)


def _direction(source: ChoiceSource, call: Call) -> Attrs:
    return {"direction": source.choice(("LEFT", "RIGHT"))}


OPERATORS: tuple[Operator, ...] = (
    _arithmetic("Add", Arithmetic.EXACT_WHERE_HELD, None).of_class(OperatorClass.ADDITION),
    _arithmetic("Sub", Arithmetic.EXACT_WHERE_HELD, "Mul"),
    _arithmetic("Mul", Arithmetic.EXACT_WHERE_HELD, "Add").of_class(OperatorClass.PRODUCT),
    _arithmetic("Div", Arithmetic.ONE_STEP, "Sub", _quotient, zeros_of(1)),
    _arithmetic("Pow", Arithmetic.FUNCTION, "Sub", _power, ZEROS_OF_BASE),
    Operator("Mod", _quotient, _rest, _fmod, kinds={"fmod": FLAG}, terms=two_terms, plainer="Sub"),
    _sum("Sum", "Max"),
    _sum("Mean", "Sum"),
    Operator("Min", several, _of_several, plainer="Max"),
    Operator("Max", several, _of_several),
    _exact("BitwiseAnd", None),
    _exact("BitwiseOr", "BitwiseAnd"),
    _exact("BitwiseXor", "BitwiseAnd"),
    Operator(
        "BitShift",
        _shift,
        broadcast_of,
        _direction,
        kinds={"direction": one_of("LEFT", "RIGHT")},
        plainer="BitwiseAnd",
    ),
    _exact("And", None),
    _exact("Or", "And"),
    _exact("Xor", "And"),
)
