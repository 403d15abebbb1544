"""Compare all outputs of a lane with what is expected of them."""

from __future__ import annotations

from generators.graph import Array
from oracles.expected_output import Expected
from oracles.finding import Kind, Mismatch
from oracles.remembered import REFERENCES, remembered
from oracles.tolerance import mismatch
from oracles.transforms import Rounding


def judge(
    outputs: tuple[Array, ...], right: tuple[Expected, ...], rounding: Rounding = Rounding.SAME
) -> tuple[Kind, Mismatch] | None:
    """Return the first difference, coarsest first: number of outputs, shapes, dtypes, values. None: no difference."""
    return _judged(outputs, right, rounding)


@remembered(REFERENCES, of=1)
def _judged(
    outputs: tuple[Array, ...], right: tuple[Expected, ...], rounding: Rounding
) -> tuple[Kind, Mismatch] | None:
    if len(outputs) != len(right):
        return Kind.WRONG_ARITY, Mismatch(0, f"{len(right)} outputs", f"{len(outputs)} outputs")
    pairs = list(enumerate(zip(outputs, right, strict=True)))
    for index, (actual, want) in pairs:
        if actual.shape != want.eager.shape:
            return Kind.WRONG_SHAPE, Mismatch(index, str(list(want.eager.shape)), str(list(actual.shape)))
    for index, (actual, want) in pairs:
        if actual.dtype != want.eager.dtype:
            return Kind.WRONG_DTYPE, Mismatch(index, str(want.eager.dtype), str(actual.dtype))
    for index, (actual, want) in pairs:
        if evidence := mismatch(index, actual, want, rounding):
            return Kind.WRONG_VALUE, evidence
    return None
