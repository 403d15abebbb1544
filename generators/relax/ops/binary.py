"""Operators of two or three tensors that broadcast."""

from __future__ import annotations

from generators.builder import Builder
from generators.domain import NONZERO, POSITIVE, within
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import Arithmetic, Op, Operands, Types, one_term, require, zeros_of
from generators.operator_class import OperatorClass
from generators.relax.ops.operands import (
    ALL,
    BOUND,
    FLOATS,
    INTEGERS,
    NUMERIC,
    broadcast_formulas,
    broadcast_of,
    broadcasting,
    compared,
    kept,
    one_dtype,
    partner,
)
from generators.relax.row import row

LOGICAL = (DType.BOOL,)
BITS = (*INTEGERS, DType.BOOL)


def _pair(name: str, arithmetic: Arithmetic, *classes: OperatorClass) -> Op:
    return row(
        name,
        broadcasting(NUMERIC),
        broadcast_of(*NUMERIC),
        arity=2,
        terms=one_term,
        arithmetic=arithmetic,
        classes=classes,
    )


def _quotients(dtypes: tuple[DType, ...]) -> Operands:
    """The divisor is not near zero."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(dtypes)
        y = partner(b, x.type)
        if not x.type.dtype.is_float:
            return x, kept(b, y, 1, 9, NONZERO)
        return x, kept(b, y, 0.25, BOUND, POSITIVE)

    return operands


def _powers(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    return kept(b, x, 0.25, 8.0, POSITIVE), kept(b, partner(b, x.type), -3.0, 3.0, within(-3, 3))


def _shifts(b: Builder) -> tuple[Value, ...]:
    x = b.tensor((DType.INT64, DType.INT32))
    return x, kept(b, partner(b, x.type), 0, 7, within(0, 7))


def _where(types: Types, attrs: Attrs) -> TensorType:
    condition, *others = types
    require(condition.dtype is DType.BOOL, f"the condition is {condition}")
    return TensorType(one_dtype(tuple(others)), broadcast_formulas(*(type.sizes for type in types)))


def _choices(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL)
    return partner(b, x.type.with_dtype(DType.BOOL)), x, partner(b, x.type)


def _fused(types: Types, attrs: Attrs) -> TensorType:
    """R.ewise_fma takes tensors of one shape."""
    require(len(set(types)) == 1 and types[0].dtype in FLOATS, "takes three tensors of one type")
    return types[0]


def _three_alike(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    return x, *(b.pick(lambda other: other == x.type, lambda: x.type) for _ in range(2))


OPS = (
    _pair("add", Arithmetic.EXACT_WHERE_HELD, OperatorClass.ADDITION),
    _pair("subtract", Arithmetic.EXACT_WHERE_HELD),
    _pair("multiply", Arithmetic.EXACT_WHERE_HELD, OperatorClass.PRODUCT),
    *(
        row(name, broadcasting(NUMERIC), broadcast_of(*NUMERIC), arity=2, plainer="add")
        for name in ("maximum", "minimum")
    ),
    row(
        "divide",
        _quotients(FLOATS),
        broadcast_of(*FLOATS),
        arity=2,
        terms=one_term,
        arithmetic=Arithmetic.ONE_STEP,
        plainer="multiply",
    ),
    *(
        row(name, _quotients((*FLOATS, DType.INT64, DType.INT32)), broadcast_of(*NUMERIC), arity=2, terms=one_term)
        for name in ("floor_divide", "floor_mod", "mod")
    ),
    row("power", _powers, broadcast_of(*FLOATS), arity=2, terms=one_term, plainer="multiply"),
    row("atan2", broadcasting(FLOATS), broadcast_of(*FLOATS), arity=2, terms=one_term, zero_sensitivity=zeros_of(0, 1)),
    row("log_add_exp", broadcasting(FLOATS), broadcast_of(*FLOATS), arity=2, terms=one_term, scale=1.0),
    *(row(name, _shifts, broadcast_of(DType.INT64, DType.INT32), arity=2) for name in ("left_shift", "right_shift")),
    *(row(f"bitwise_{name}", broadcasting(BITS), broadcast_of(*BITS), arity=2) for name in ("and", "or", "xor")),
    *(row(f"logical_{name}", broadcasting(LOGICAL), broadcast_of(*LOGICAL), arity=2) for name in ("and", "or", "xor")),
    *(
        row(name, broadcasting(NUMERIC), compared(*NUMERIC), arity=2)
        for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
    ),
    row("where", _choices, _where, arity=3),
    row("ewise_fma", _three_alike, _fused, arity=3, terms=one_term),
)
