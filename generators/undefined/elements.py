"""Which elements of a call have no defined value, from the numbers of its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from generators.graph import Array, Attrs, DType
from generators.op import Types, int_of, ints_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Call:
    """A call with the numbers of its operands. Floats are float64, whatever their type says.

    args     the operands
    types    their types
    results  the types of the results
    attrs    the attributes
    """

    args: tuple[Array, ...]
    types: Types
    results: Types
    attrs: Attrs


@dataclass(frozen=True, slots=True)
class Places:
    """Elements without a defined value. Masks are broadcast to the operand or result of this number.

    operands   elements of operands: each element of a result that depends on one of them is undefined
    results    elements of results
    in_range   whether the numbers by which such a dependence is found must fit every dtype, as for a conversion.
               Otherwise they are far apart
    positions  results that have positions of numbers of the first operand. Which of several equal numbers they name is
               open: the call is computed again with a small difference between these
    ranked     an operand of which equal numbers may be taken in any order; None: there is none. The results are open
               that a small difference between these changes
    """

    operands: Mapping[int, Mask] = field(default_factory=dict)
    results: Mapping[int, Mask] = field(default_factory=dict)
    in_range: bool = False
    positions: tuple[int, ...] = ()
    ranked: int | None = None


Where = Callable[[Call], Places]


def convertible(dtype: DType) -> tuple[float, float]:
    """Bounds of floats that every conversion to this dtype defines: they are in the range of int8, or of uint8."""
    return (0.0, 100.0) if dtype is DType.UINT8 else (-100.0, 100.0)


def converted(*operands: int) -> Where:
    """Floats in these operands that become integers of the dtype of the first result, and whose integral part that
    dtype cannot hold. NaN has none."""

    def places(call: Call) -> Places:
        dtype = call.results[0].dtype
        chosen = [place for place in operands if place < len(call.args) and call.types[place].dtype.is_float]
        if not dtype.is_integer:
            return Places()
        return Places({place: _out_of_range(call, place, dtype) for place in chosen}, in_range=True)

    return places


def _out_of_range(call: Call, place: int, dtype: DType) -> Mask:
    """Numbers out of range before or after they are rounded to the dtype of their operand."""
    numbers = call.args[place]
    with np.errstate(over="ignore", invalid="ignore"):
        own = numbers.astype(call.types[place].dtype.numpy).astype(np.float64)
        return _is_outside(numbers, dtype) | _is_outside(own, dtype)


def _is_outside(numbers: Array, dtype: DType) -> Mask:
    low, high = dtype.range
    whole = np.trunc(numbers)
    return np.asarray(~((whole >= float(low)) & (whole < float(high + 1))))


def powers_out_of_range(call: Call) -> Places:
    """Powers of integers to floating exponents whose integral part the dtype of the base cannot hold."""
    dtype = call.results[0].dtype
    if not dtype.is_integer or not call.types[1].dtype.is_float:
        return Places()
    with np.errstate(all="ignore"):
        return Places(results={0: _is_outside(np.power(call.args[0].astype(np.float64), call.args[1]), dtype)})


def shifted_too_far(call: Call) -> Places:
    """Shifts by a negative number, or by at least the width of the result. The number is the second operand, or the
    attribute `other`."""
    by = call.args[1] if len(call.args) > 1 else np.asarray(call.attrs["other"])
    return Places(results={0: np.asarray((by < 0) | (by >= call.results[0].dtype.bits))})


def no_quotient(call: Call) -> Places:
    """Integers divided by 0, and the smallest integer divided by -1. The divisor is the second operand, or the
    attribute `other`."""
    dtype = call.results[0].dtype
    if not dtype.is_integer or call.attrs.get("rounding_mode", "floor") is None:
        return Places()
    divisor = call.args[1] if len(call.args) > 1 else np.asarray(call.attrs["other"])
    smallest = (call.args[0] == dtype.range[0]) & (divisor == -1) & (dtype.range[0] < 0)
    return Places(results={0: np.asarray((divisor == 0) | smallest)})


def number_divided(call: Call) -> Places:
    """As `no_quotient`, where the attribute `other` is divided by the operand."""
    dtype, dividend = call.results[0].dtype, call.attrs["other"]
    if not dtype.is_integer:
        return Places()
    smallest = (call.args[0] == -1) & (dividend == dtype.range[0]) & (dtype.range[0] < 0)
    return Places(results={0: np.asarray((call.args[0] == 0) | smallest)})


def nan(call: Call) -> Places:
    """NaN in any operand of floats."""
    floats = [place for place, type in enumerate(call.types) if type.dtype.is_float]
    return Places({place: np.isnan(call.args[place]) for place in floats})


def all_with_nan(call: Call) -> Places:
    """Everything, where the operand has a NaN: a search that compares each number with the largest one so far goes on
    after it as if nothing had been before."""
    return Places(results={0: np.full((), np.isnan(call.args[0]).any())})


def slices_with_nan(call: Call) -> Places:
    """As `all_with_nan`, of each search along `axis`; the last one where none is given."""
    axis = call.attrs.get("axis")
    last = axis if isinstance(axis, int) else -1
    return Places(results={0: np.asarray(np.isnan(call.args[0]).any(axis=last, keepdims=True))})


def not_finite(call: Call) -> Places:
    """NaN and infinities in the first operand."""
    return Places({0: ~np.isfinite(call.args[0])})


def no_grid_point(call: Call) -> Places:
    """Numbers whose quotient by the attribute `scale` is no 64-bit integer after rounding."""
    scale = call.attrs["scale"]
    assert isinstance(scale, float | int)
    with np.errstate(over="ignore", invalid="ignore"):
        return Places({0: _is_outside(call.args[0] / scale, DType.INT64)})


def no_range(call: Call) -> Places:
    """Everything, where the operand has a NaN or an infinity, or no number but zero: the step is then no positive
    number, and the numbers are divided by it."""
    numbers = call.args[0]
    if np.isfinite(numbers).all() and numbers.any():
        return Places()
    return Places(results={place: np.ones((), np.bool_) for place in range(len(call.results))})


def positions_of_equals(call: Call) -> Places:
    """The positions of equal numbers in a ranking, which are the last result: any of them, unless it is stable."""
    if call.attrs.get("stable") is True or call.results[-1].dtype is not DType.INT64:
        return Places()
    return Places(positions=(len(call.results) - 1,))


def positions_without_nan(call: Call) -> Places:
    """As `positions_of_equals`, unless a number is NaN, which is the result then, or is left out."""
    return Places() if np.isnan(call.args[0]).any() else positions_of_equals(call)


def _along(ranked: Array, axis: int, side: int) -> Array:
    """All elements but the first (1) or the last (-1) along an axis."""
    part = slice(1, None) if side > 0 else slice(None, -1)
    return ranked[tuple(part if place == axis else slice(None) for place in range(ranked.ndim))]


def places_of_equals(call: Call) -> Places:
    """Places of equal elements in a ranking of Relax along `axis`: the last result, unless the values alone are asked
    for."""
    if call.attrs.get("ret_type") == "values":
        return Places()
    numbers, sizes = call.args[0], call.results[-1].sizes
    axis = int_of(call.attrs, "axis") % len(sizes)
    ranked = np.sort(numbers, axis=axis)
    if call.attrs.get("descending") is True or call.attrs.get("largest") is True:
        ranked = np.flip(ranked, axis=axis)
    same = np.asarray(_along(ranked, axis, 1) == _along(ranked, axis, -1))
    none = np.zeros_like(np.take(ranked, [0], axis=axis), np.bool_)
    tied = np.concatenate([none, same], axis) | np.concatenate([same, none], axis)
    return Places(results={len(call.results) - 1: np.take(tied, range(sizes[axis]), axis=axis)})


def place_of_equals(largest: bool) -> Where:
    """The place of the largest or the smallest element of Relax, where several are it."""

    def places(call: Call) -> Places:
        numbers, given = call.args[0], call.attrs["axis"]
        axis = given if isinstance(given, int) else None
        extreme = (np.max if largest else np.min)(numbers, axis=axis, keepdims=True)
        several = (numbers == extreme).sum(axis=axis) > 1
        return Places(results={0: np.asarray(several).reshape(call.results[0].sizes)})

    return places


def place_of_median(call: Call) -> Places:
    """The place of the median of Relax along an axis, where several elements are it."""
    if len(call.results) < 2:
        return Places()
    (axis,), numbers = ints_of(call.attrs, "axis"), call.args[0]
    middle = np.take(np.sort(numbers, axis=axis), [(numbers.shape[axis] - 1) // 2], axis=axis)
    several = (numbers == middle).sum(axis=axis) > 1
    return Places(results={1: np.asarray(several).reshape(call.results[1].sizes)})


def ranked(operand: int) -> Where:
    """Results that depend on the order in which equal numbers of an operand are taken."""
    return lambda call: Places(ranked=operand)


def any_order(call: Call) -> Places:
    """All results of a ranking of more than one number that is not sorted (`sorted` is false)."""
    key = "axis" if "axis" in call.attrs else "dim"
    axis = call.attrs.get(key)
    sizes = call.results[0].sizes
    count = sizes[axis if isinstance(axis, int) else -1] if sizes else 1
    if call.attrs.get("sorted") not in (0, False) or count < 2:
        return Places()
    return Places(results={place: np.ones((), np.bool_) for place in range(len(call.results))})


def both(*parts: Where) -> Where:
    """The elements of several functions together. Each names other results, and none has `in_range` or `ranked`."""

    def places(call: Call) -> Places:
        found = [part(call) for part in parts]
        assert not any(each.in_range or each.ranked is not None for each in found), "of one function alone"
        return Places(
            {place: mask for each in found for place, mask in each.operands.items()},
            {place: mask for each in found for place, mask in each.results.items()},
            positions=tuple(place for each in found for place in each.positions),
        )

    return places


def nothing_to_average(call: Call) -> Places:
    """All results of a reduction of no numbers."""
    return Places(results={0: np.ones((), np.bool_)}) if not call.args[0].size else Places()


def nothing_among_integers(call: Call) -> Places:
    """As `nothing_to_average`, for integers alone, which have no minus infinity."""
    return nothing_to_average(call) if call.results[0].dtype.is_integer else Places()
