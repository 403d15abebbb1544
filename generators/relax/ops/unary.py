"""Operators of one tensor that compute each element of their result from one element."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import ANY, POSITIVE, within
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import (
    INT,
    NUMBER,
    ZEROS_WHERE_BOOL,
    Arithmetic,
    Op,
    Types,
    dtype_of,
    int_of,
    number_of,
    one_of,
    one_term,
    require,
    zeros_of,
)
from generators.operator_class import OperatorClass
from generators.relax.ops.operands import (
    ALL,
    BOUND,
    FLOATS,
    INTEGERS,
    NUMERIC,
    axis_in,
    inside,
    one,
    only,
    owned,
    to_bool,
)
from generators.relax.row import row


def _function(name: str, plainer: str | None = "tanh", scale: float = 0.0) -> Op:
    return row(name, one(FLOATS), only(*FLOATS), terms=one_term, plainer=plainer, scale=scale, may_be_open=True)


def _above(name: str, low: float, scale: float = 0.0) -> Op:
    """A function of numbers above a bound, which is 0 or 1."""
    domain = POSITIVE if low < 1 else within(1, 9)
    operands = inside(FLOATS, low, BOUND, domain)
    return row(name, operands, only(*FLOATS), terms=one_term, plainer="tanh", scale=scale, may_be_open=True)


def _between(name: str, bound: float, scale: float = 0.0) -> Op:
    """A function of numbers around 0."""
    operands = inside(FLOATS, -bound, bound, ANY)
    return row(name, operands, only(*FLOATS), terms=one_term, plainer="tanh", scale=scale, may_be_open=True)


# --- clip


def _clipped(types: Types, attrs: Attrs) -> TensorType:
    (x,), low, high = types, number_of(attrs, "min"), number_of(attrs, "max")
    require(x.dtype in NUMERIC, f"is not defined for {x.dtype}")
    require(low <= high, "min is above max")
    if not x.dtype.is_float:
        least, most = x.dtype.range
        whole = all(isinstance(bound, int) and least <= bound <= most for bound in (low, high))
        require(whole, f"{x.dtype} cannot hold the bounds {low} and {high}")
    return x


def _bounds(source: ChoiceSource, types: Types) -> Attrs:
    low = source.integer(-8, 8)
    high = low + source.integer(0, 8)
    if types[0].dtype.is_float:
        return {"min": low / 2, "max": high / 2}
    return {"min": max(low, 0), "max": max(high, 0)} if types[0].dtype is DType.UINT8 else {"min": low, "max": high}


CLIP = row(
    "clip",
    one(NUMERIC),
    _clipped,
    _bounds,
    {"min": NUMBER, "max": NUMBER},
    arguments=("min", "max"),
    plainer="tanh",
    classes=(OperatorClass.GUARD, OperatorClass.CLAMP),
)

# --- astype

_DTYPES = one_of(*ALL)


def _cast(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_dtype(dtype_of(attrs))


def _other_dtype(source: ChoiceSource, types: Types) -> Attrs:
    return {"dtype": source.choice(ALL).value}


# --- activations with numbers


def _slope(source: ChoiceSource, types: Types) -> Attrs:
    return {"alpha": source.choice((0.0, 0.01, 0.25, 1.0, 1.5, -0.5))}


def _beta(source: ChoiceSource, types: Types) -> Attrs:
    """PyTorch writes any; TVM's documentation gives the formula for each."""
    return {"beta": source.choice((0.5, 1.0, 2.0)), "threshold": source.choice((1.0, 4.0, 20.0))}


def _slopes(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, (2, 5))
    sizes = x.type.shape
    axis = 1 if b.source.chance(60) else b.source.integer(0, len(sizes) - 1)
    return x, owned(b, TensorType(x.type.dtype, (sizes[axis],)))


def _prelu(types: Types, attrs: Attrs) -> TensorType:
    x, slope = types
    require(x.dtype in FLOATS and slope.dtype == x.dtype, "takes floats of one dtype")
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    require(slope.sizes == (x.sizes[axis],), f"{slope} has not a slope for each place of axis {axis} of {x}")
    return x


def _fitting_axis(source: ChoiceSource, types: Types) -> Attrs | None:
    x, slope = types
    fits = [axis for axis, size in enumerate(x.sizes) if slope.sizes == (size,)]
    axis = source.choice(fits) if fits else None
    return None if axis is None else {"axis": axis - x.rank if source.chance(30) else axis}


_ABOVE = 0.125
"""Half precision holds it, and its reciprocal and logarithm are small."""

OPS = (
    CLIP,
    *(_function(name) for name in ("sin", "cos", "tan", "atan", "erf")),
    _function("sigmoid", scale=1.0),
    _function("asinh", scale=1.0),
    _between("exp", 8.0),
    _between("sinh", 8.0, scale=1.0),
    _between("cosh", 8.0),
    _function("tanh", None),
    _above("log", _ABOVE),
    _above("rsqrt", _ABOVE),
    _above("acosh", 1.0, scale=1.0),
    row(
        "sqrt",
        inside(FLOATS, _ABOVE, BOUND, POSITIVE),
        only(*FLOATS),
        terms=one_term,
        arithmetic=Arithmetic.ONE_STEP,
        plainer="tanh",
        classes=(OperatorClass.SQUARE_ROOT,),
    ),
    _between("acos", 0.875, scale=1.0),
    _between("asin", 0.875),
    _between("atanh", 0.875, scale=1.0),
    *(row(name, one(FLOATS), only(*FLOATS), plainer="tanh") for name in ("ceil", "floor", "round", "trunc")),
    row("abs", one(NUMERIC), only(*NUMERIC), plainer="negative", may_be_open=True),
    row("negative", one((*FLOATS, DType.INT64, DType.INT32, DType.INT8)), only(*NUMERIC), plainer="tanh"),
    row(
        "square",
        one(NUMERIC),
        only(*NUMERIC),
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        plainer="abs",
        classes=(OperatorClass.SQUARE,),
    ),
    row("sign", one((*FLOATS, DType.INT64, DType.INT32, DType.INT8)), only(*NUMERIC), zero_sensitivity=zeros_of(0)),
    row("bitwise_not", one((*INTEGERS, DType.BOOL)), only(*INTEGERS, DType.BOOL)),
    row("logical_not", one((DType.BOOL,)), only(DType.BOOL)),
    *(row(name, one(FLOATS), to_bool(*FLOATS)) for name in ("isfinite", "isinf", "isnan")),
    row(
        "astype",
        one(ALL),
        _cast,
        _other_dtype,
        {"dtype": _DTYPES},
        terms=one_term,
        arithmetic=Arithmetic.EXACT_WHERE_HELD,
        zero_sensitivity=ZEROS_WHERE_BOOL,
        may_be_open=True,
    ),
    row("nn.relu", one(FLOATS), only(*FLOATS), plainer="tanh", may_be_open=True),
    *(_function(f"nn.{name}", "nn.relu", scale=4.0) for name in ("gelu", "gelu_tanh", "silu")),
    _function("nn.selu", "nn.relu", scale=1.0),
    row(
        "nn.leakyrelu",
        one(FLOATS),
        only(*FLOATS),
        _slope,
        {"alpha": NUMBER},
        terms=one_term,
        arithmetic=Arithmetic.ONE_STEP,
        plainer="nn.relu",
    ),
    row(
        "nn.prelu",
        _slopes,
        _prelu,
        _fitting_axis,
        {"axis": INT},
        arity=2,
        terms=one_term,
        arithmetic=Arithmetic.ONE_STEP,
        plainer="nn.relu",
    ),
    row("nn.softplus", one(FLOATS), only(*FLOATS), _beta, {"beta": NUMBER, "threshold": NUMBER}, terms=one_term),
)
