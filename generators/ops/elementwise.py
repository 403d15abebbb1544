"""Elementwise operators, with broadcasting, and casts."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO, POSITIVE
from generators.graph import FLOATS, Attrs, DType, TensorType, Value
from generators.ops.base import DTYPE, NUMBER, Op, Terms, Types, dtype_of, one_term, require
from generators.ops.guard import clamped
from generators.ops.operands import broadcasting, one, partner
from generators.ops.rules import ALL, NUMERIC, broadcast, floating, promote, require_dtype, same_type

# --- inference


def _broadcast(dtype: Callable[[Types], DType], *allowed: DType) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *allowed)
        return TensorType(dtype(types), broadcast(*(t.sizes for t in types)))

    return infer


def _where(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].dtype is DType.BOOL, f"the condition must be bool, not {types[0].dtype}")
    return TensorType(promote(types[1:]), broadcast(*(t.sizes for t in types)))


def _cast(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_dtype(dtype_of(attrs))


def _with_scalar(types: Types, attrs: Attrs) -> TensorType:
    """Tensor and Python number: a float number makes an integer tensor float32."""
    require_dtype(types, *NUMERIC)
    floats = isinstance(attrs["other"], float)
    return types[0].with_dtype(floating(types[0].dtype) if floats else types[0].dtype)


# --- operands that keep an operator inside its domain


def _guarded(low: float, high: float) -> Callable[[Builder], tuple[Value, ...]]:
    """A float value within [low, high]: clamped by the graph itself, or an input whose domain is positive numbers."""

    def operands(b: Builder) -> tuple[Value, ...]:
        value = b.tensor(FLOATS)
        if low > 0 and b.source.chance(30):
            return (b.fresh_input(value.type, domain=POSITIVE),)
        return (clamped(b, value, low, high),)

    return operands


def _divisor(b: Builder) -> tuple[Value, ...]:
    first = b.tensor(FLOATS)
    shape = partner(b, first.type, FLOATS).type if b.source.chance(50) else first.type
    return first, b.fresh_input(shape, domain=NONZERO)


def _base_and_exponent(b: Builder) -> tuple[Value, ...]:
    (base,) = _guarded(0.25, 4.0)(b)
    return base, clamped(b, partner(b, base.type, FLOATS), -3.0, 3.0)


def _cast_operand(b: Builder) -> tuple[Value, ...]:
    """Floats are clamped first: what a cast to int64 does out of range is undefined."""
    value = b.tensor()
    return (clamped(b, value, -100.0, 100.0) if value.type.dtype.is_float else value,)


def _condition_and_branches(b: Builder) -> tuple[Value, ...]:
    condition = b.tensor((DType.BOOL,))
    return condition, partner(b, condition.type), partner(b, condition.type)


# --- attributes


def _number(source: ChoiceSource, types: Types) -> Attrs:
    number = source.integer(-6, 6)
    return {"other": number / 2 if types[0].dtype.is_float or source.chance(30) else number}


# --- row makers


def _unary(
    name: str, *dtypes: DType, exact: bool = False, operands: object = None, source: str = "", scale: float = 0.0
) -> Op:
    return Op(
        name,
        operands if callable(operands) else one(dtypes),
        same_type(*dtypes),
        source or f"torch.{name}({{0}})",
        terms=None if exact else one_term,
        scale=scale,
    )


def _binary(
    name: str,
    dtype: Callable[[Types], DType],
    *allowed: DType,
    terms: Terms | None = one_term,
    operands: Callable[[Builder], tuple[Value, ...]] | None = None,
) -> Op:
    return Op(
        name,
        operands or broadcasting(2, allowed),
        _broadcast(dtype, *allowed),
        f"torch.{name}({{0}}, {{1}})",
        arity=(2, 2),
        terms=terms,
    )


def _scalar(name: str, source: str) -> Op:
    return Op(name, one(NUMERIC), _with_scalar, source, _number, {"other": NUMBER}, terms=one_term)


def _bool(types: Types) -> DType:
    return DType.BOOL


def _true_division(types: Types) -> DType:
    return floating(promote(types))


OPS = (
    # exact
    _unary("abs", *NUMERIC, exact=True),
    _unary("neg", *NUMERIC, exact=True),
    _unary("sign", *NUMERIC, exact=True),
    _unary("floor", *FLOATS, exact=True),
    _unary("ceil", *FLOATS, exact=True),
    _unary("round", *FLOATS, exact=True),
    _unary("trunc", *FLOATS, exact=True),
    _unary("relu", *NUMERIC, exact=True),
    _unary("logical_not", DType.BOOL, exact=True),
    # rounded once
    _unary("sin", *FLOATS),
    _unary("cos", *FLOATS),
    _unary("tanh", *FLOATS),
    _unary("erf", *FLOATS),
    _unary("sigmoid", *FLOATS, scale=1.0),
    _unary("square", *FLOATS),
    _unary("gelu", *FLOATS, source="F.gelu({0})", scale=1.0),
    _unary("silu", *FLOATS, source="F.silu({0})", scale=1.0),
    _unary("elu", *FLOATS, source="F.elu({0})", scale=1.0),
    _unary("softplus", *FLOATS, source="F.softplus({0})", scale=1.0),
    _unary("leaky_relu", *FLOATS, source="F.leaky_relu({0}, 0.125)"),
    _unary("hardswish", *FLOATS, source="F.hardswish({0})"),
    # rounded once, on part of the numbers only
    _unary("exp", *FLOATS, operands=_guarded(-8.0, 8.0)),
    _unary("log", *FLOATS, operands=_guarded(0.125, 1e6)),
    _unary("sqrt", *FLOATS, operands=_guarded(0.0, 1e6)),
    _unary("rsqrt", *FLOATS, operands=_guarded(0.125, 1e6)),
    _unary("reciprocal", *FLOATS, operands=_guarded(0.125, 1e6)),
    # two operands
    _binary("add", promote, *NUMERIC),
    _binary("sub", promote, *NUMERIC),
    _binary("mul", promote, *NUMERIC),
    _binary("div", _true_division, *FLOATS, operands=_divisor),
    _binary("pow", promote, *FLOATS, operands=_base_and_exponent),
    _binary("maximum", promote, *NUMERIC, terms=None),
    _binary("minimum", promote, *NUMERIC, terms=None),
    _binary("eq", _bool, *ALL, terms=None),
    _binary("ne", _bool, *ALL, terms=None),
    _binary("lt", _bool, *ALL, terms=None),
    _binary("ge", _bool, *ALL, terms=None),
    _binary("logical_and", _bool, *ALL, terms=None),
    _binary("logical_or", _bool, *ALL, terms=None),
    # a Python number
    _scalar("add_scalar", "{0} + {other}"),
    _scalar("mul_scalar", "{0} * {other}"),
    _scalar("rsub_scalar", "{other} - {0}"),
    # others
    Op(
        "where",
        _condition_and_branches,
        _where,
        "torch.where({0}, {1}, {2})",
        arity=(3, 3),
    ),
    Op(
        "to",
        _cast_operand,
        _cast,
        "{0}.to({dtype})",
        lambda source, types: {"dtype": source.choice(ALL).value},
        {"dtype": DTYPE},
        terms=one_term,
    ),
)
