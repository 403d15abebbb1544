"""Shared by operators of several operands that broadcast, and by those of a tensor and Python numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import ml_dtypes

from generators.builder import SIZES, Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO, POSITIVE, within
from generators.graph import INTEGERS, Attrs, DType, Profile, TensorType, Value
from generators.op import Types, one_of, optional, require
from generators.shared.sizes import broadcast
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import ALL, NUMERIC, Number, floating, promote

WHOLE = (*INTEGERS, DType.BOOL)

# --- inference: the promoted dtype determines whether PyTorch has a kernel, and the result type


def promoted(
    *computed: DType, result: Callable[[DType], DType] = lambda dtype: dtype
) -> Callable[[Types, Attrs], TensorType]:
    """The shape to which all operands broadcast, if there is a kernel for their promoted dtype."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        dtype = promote(types)
        require(dtype in computed, f"is not defined for {dtype}")
        return TensorType(result(dtype), broadcast(*(t.sizes for t in types)))

    return infer


ANY_DTYPE = promoted(*ALL)
NUMBERS_ONLY = promoted(*NUMERIC)
YES_OR_NO = promoted(*ALL, result=lambda dtype: DType.BOOL)
FLOAT_OF_ALL = promoted(*ALL, result=floating)


def require_fits(number: Number, dtype: DType) -> None:
    """Require that the dtype can hold the number. PyTorch refuses others, wraps them around or makes them infinite."""
    if dtype.is_float:
        require(abs(number) <= float(ml_dtypes.finfo(dtype.numpy).max), f"{number} is too large for {dtype}")
    elif isinstance(number, int):
        low, high = dtype.range
        require(low <= number <= high, f"{dtype} cannot hold {number}")


# --- operands


def another(b: Builder, value: Value, dtypes: Sequence[DType] = ALL) -> Value:
    """A value that broadcasts with this one, mostly of its dtype; sometimes larger in dimensions of size 1."""
    dtypes = (value.type.dtype,) if b.source.chance(70) else dtypes
    if b.source.rarely(15):
        shape = (
            b.source.choice(SIZES) if size == 1 else 1 if b.source.chance(40) else size for size in value.type.sizes
        )
        return b.fresh_input(TensorType(b.source.choice(dtypes), tuple(shape)))
    return partner(b, value.type, dtypes)


def pair(dtypes: Sequence[DType] = ALL, others: Sequence[DType] = ()) -> Callable[[Builder], tuple[Value, Value]]:
    """Two values that broadcast, in either order; one of them may have a dtype of `others`."""

    def operands(b: Builder) -> tuple[Value, Value]:
        first = b.tensor(dtypes)
        second = another(b, first, others or dtypes)
        return (second, first) if b.source.rarely(25) else (first, second)

    return operands


ANY_PAIR = pair()


def alike(b: Builder, count: int, dtypes: Sequence[DType] = ALL) -> tuple[Value, ...]:
    """`count` values of one dtype that broadcast with the first."""
    first = b.tensor(dtypes)
    return (first, *(another(b, first, (first.type.dtype,)) for _ in range(count - 1)))


def bounded(b: Builder, value: Value, low: float, high: float) -> Value:
    """Return the value clamped to [low, high], or a new input of its type with these bounds. Raise `Invalid` where an
    integer dtype has no number within them. In the special profile a float is returned unchanged, because functions
    are defined for NaN, infinities and zeros."""
    dtype = value.type.dtype
    if dtype.is_float and b.profile is Profile.SPECIAL:
        return value
    first, last = math.ceil(low), math.floor(high)
    if dtype.is_float:
        if first < last and b.source.chance(30):
            half_line = 0 < low <= 0.5 and last > 16
            return b.fresh_input(value.type, domain=POSITIVE if half_line else within(first, min(last, first + 16)))
        return clamped(b, value, low, high)
    first, last = max(first, dtype.range[0]), min(last, dtype.range[1])
    require(first <= last, f"{dtype} has nothing between {low} and {high}")
    if (first, last) == dtype.range:
        return value
    if dtype is DType.BOOL or b.source.chance(50):
        return b.fresh_input(value.type, domain=within(first, min(last, first + 30)))
    return clamped(b, value, first, last)


def nonzero(b: Builder, value: Value, dividend: Value | None = None) -> Value:
    """Return a divisor that replaces the value. It is never -1 if the dividend may be the smallest integer: the dtype
    cannot hold this quotient, and the processor would raise an exception that ends the process."""
    type = value.type
    if type.dtype.is_float and b.profile is Profile.SPECIAL:
        return value
    if type.dtype is DType.BOOL:
        return b.fresh_input(type, domain=within(1, 1))
    if value.name.startswith("v") and b.source.chance(50):
        return clamped(b, value, 0.5 if type.dtype.is_float else 1, 8)
    unknown = dividend is not None and (b.profile is Profile.EXTREME or dividend.name.startswith("v"))
    whole = dividend is not None and not (type.dtype.is_float or dividend.type.dtype.is_float)
    return b.fresh_input(type, domain=POSITIVE if unknown and whole else NONZERO)


# --- attributes and terms

ROUNDING = optional(one_of("trunc", "floor"))


def rounding_mode(source: ChoiceSource, types: Types) -> Attrs:
    return {"rounding_mode": source.choice((None, None, "trunc", "floor"))}


def factor(source: ChoiceSource, dtype: DType) -> Number:
    """The factor of a term of a sum: 1, or another number that the dtype holds."""
    if source.chance(50):
        return 1
    options: tuple[Number, ...] = (2, 3, 0) if dtype is DType.UINT8 else (2, -1, -3, 0)
    if dtype is DType.BOOL:
        options = (True, False, 0)
    return source.choice((0.5, -2.5, 0.1, *options) if dtype.is_float else options)


def two_terms(types: Types, attrs: Attrs) -> int:
    """Two terms: a rounded intermediate result may cancel with another, or lie on either side of a step."""
    return 2


def division_terms(types: Types, attrs: Attrs) -> int:
    return 1 if attrs["rounding_mode"] is None else 2
