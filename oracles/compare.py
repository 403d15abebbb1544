"""Compare all outputs of a lane with what is expected of them."""

from __future__ import annotations

from dataclasses import replace

from generators.graph import Array
from oracles.beside import common_part, is_number, values_beside_dtype
from oracles.expected_output import Expected
from oracles.finding import Kind, Mismatch
from oracles.remembered import REFERENCES, remembered
from oracles.tolerance import mismatch
from oracles.transforms import Rounding

WORST_FIRST = (Kind.WRONG_VALUE, Kind.WRONG_SHAPE, Kind.WRONG_DTYPE)
"""Wrong numbers are worse than a wrong shape, at which a program stops, or a wrong dtype with the right numbers."""


def judge(
    outputs: tuple[Array, ...], right: tuple[Expected, ...], rounding: Rounding = Rounding.SAME
) -> tuple[Kind, Mismatch] | None:
    """Return the worst difference: the number of outputs, before all; then values, shapes, dtypes. None: no difference.

    A wrong dtype does not hide wrong values: they are compared after a conversion. Values of a wrong shape have no
    place; the evidence counts how many are wrong in the part that both shapes have."""
    return _judged(outputs, right, rounding)


@remembered(REFERENCES, of=1)
def _judged(
    outputs: tuple[Array, ...], right: tuple[Expected, ...], rounding: Rounding
) -> tuple[Kind, Mismatch] | None:
    if len(outputs) != len(right):
        return Kind.WRONG_ARITY, Mismatch(0, f"{len(right)} outputs", f"{len(outputs)} outputs")
    pairs = enumerate(zip(outputs, right, strict=True))
    found = [each for index, (actual, want) in pairs if (each := _of_output(index, actual, want, rounding))]
    return min(found, key=lambda each: WORST_FIRST.index(each[0]), default=None)


def _of_output(index: int, actual: Array, want: Expected, rounding: Rounding) -> tuple[Kind, Mismatch] | None:
    """The worst difference of one output."""
    if actual.shape != want.eager.shape:
        shapes = str(list(want.eager.shape)), str(list(actual.shape))
        found = Mismatch(index, *shapes, also=_other_dtype(actual, want))
        part = common_part(actual, want)
        values = _values(index, *part, rounding) if part else None
        return Kind.WRONG_SHAPE, replace(found, elements=values.elements, wrong=values.wrong) if values else found
    values = _values(index, actual, want, rounding)
    if values:
        return Kind.WRONG_VALUE, replace(values, also=_other_dtype(actual, want))
    if actual.dtype != want.eager.dtype:
        return Kind.WRONG_DTYPE, Mismatch(index, str(want.eager.dtype), str(actual.dtype))
    return None


def _values(index: int, actual: Array, want: Expected, rounding: Rounding) -> Mismatch | None:
    if actual.dtype == want.eager.dtype:
        return mismatch(index, actual, want, rounding)
    return values_beside_dtype(index, actual, want, rounding) if is_number(actual.dtype) else None


def _other_dtype(actual: Array, want: Expected) -> str:
    return "" if actual.dtype == want.eager.dtype else f"{actual.dtype} instead of {want.eager.dtype}"
