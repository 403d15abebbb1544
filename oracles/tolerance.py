"""The equation by which numbers are compared: an element is wrong where

    |lane - truth| > C x (envelope + |eager - truth| + ULPS units in the last place of the truth)

`truth` is the evaluation in float64, `envelope` the measured spread of perturbed evaluations. The parenthesis is the
element's uncertainty. Integers and booleans are compared exactly. Ill-conditioned elements are not compared. NaN and
infinities must be at the positions where PyTorch has them, unless PyTorch and the truth disagree there.
docs/tolerance.md gives the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

from generators.graph import Array, holds_floats
from oracles.expected_output import Expected, rounded_to, rounding_error
from oracles.finding import Mismatch, WorstElement
from oracles.remembered import OUTPUTS, remembered
from oracles.transforms import Rounding

C = 2.0
"""How many uncertainties the result of a right implementation may be off.

`benchmarks/calibration.py` measures it on implementations that are right by definition: PyTorch on other layouts and
threads, torch.compile, onnxruntime; docs/tolerance.md has the figures. None of their numbers needs more than 1, and
99.9 % of them at most 0.25. onnxruntime needs more only where the exported file is another function.
"""


def uncertainty(right: Expected) -> npt.NDArray[np.float64]:
    """Return the uncertainty of each element, as float64.

    It is 0 for integers and booleans, and infinite where PyTorch's result or the truth is not finite.
    """
    if not holds_floats(right.eager):
        return np.zeros(right.eager.shape)
    truth, eager = right.truth.astype(np.float64), right.eager.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        own = np.where(np.isfinite(eager) & np.isfinite(truth), np.abs(eager - truth), np.inf)
        return np.asarray(right.envelope + own + rounding_error(right.truth, right.eager.dtype))


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a lane is allowed in addition where a pass changes the rounding (`oracles.transforms.Rounding`).

    growth    the factor by which the uncertainty grows
    units     units in the last place of the output's largest number that are added: a term that a pass adds and
              subtracts again loses digits, and no operator of the case shows this
    overflow  whether intermediate numbers may be clamped or become infinite: then only finite numbers are compared
    integers  whether integers and booleans are judged: where floats are rounded much differently, nothing tells which
              integers made from them may change
    """

    growth: float
    units: float
    overflow: bool = False
    integers: bool = True


ALLOWANCES = {
    Rounding.SAME: Allowance(1.0, 0.0),
    Rounding.OTHER_ORDER: Allowance(8.0, 32.0),
    Rounding.FAST_MATH: Allowance(8.0, 8.0, overflow=True, integers=False),
    Rounding.HALF: Allowance(2.0**13, 2.0**18, overflow=True, integers=False),
}
"""The allowance for each kind of rounding. docs/tolerance.md gives the reasons."""

MAX_RELATIVE = 2.0**-5
"""The most that the units of an allowance add, as a fraction of the output's largest number, for every dtype."""


def tolerance(right: Expected, rounding: Rounding = Rounding.SAME) -> npt.NDArray[np.float64]:
    """Return how far each element may be from the truth, as float64."""
    return _tolerance(right, rounding)


@remembered(OUTPUTS)
def _tolerance(right: Expected, rounding: Rounding) -> npt.NDArray[np.float64]:
    allowance = ALLOWANCES[rounding]
    with np.errstate(over="ignore"):
        if rounding is Rounding.SAME or not holds_floats(right.eager):
            return C * uncertainty(right)
        numbers = right.truth[np.isfinite(right.truth)]
        largest = float(np.max(np.abs(numbers))) if numbers.size else 0.0
        relative = min(allowance.units * float(ml_dtypes.finfo(right.eager.dtype).eps), MAX_RELATIVE)
        return C * (allowance.growth * uncertainty(right) + relative * largest)


def is_wide(right: Expected, rounding: Rounding = Rounding.SAME) -> npt.NDArray[np.bool_]:
    """Return where the tolerance reaches the size of the number: zero would be right there. A zero that rounding does
    not move is none of these, and no integer is."""
    if not holds_floats(right.eager):
        return np.zeros(right.eager.shape, np.bool_)
    size = np.abs(right.truth.astype(np.float64))
    is_exact = (size == 0) & (right.envelope == 0) & (right.eager == 0) & (rounding is Rounding.SAME)
    return np.asarray((tolerance(right, rounding) >= size) & np.isfinite(size) & np.isfinite(right.eager) & ~is_exact)


def mismatch(output: int, actual: Array, right: Expected, rounding: Rounding = Rounding.SAME) -> Mismatch | None:
    """Compare one output of the right shape and dtype; return None where all of it is within tolerance."""
    if holds_floats(right.eager):
        excess, tol = _float_excess(actual, right, rounding), tolerance(right, rounding)
    elif not ALLOWANCES[rounding].integers:
        return None
    else:
        excess = (actual != right.eager).astype(np.float64)
        tol = np.zeros(actual.shape)
    excess = np.where(right.ill, 0.0, excess)
    wrong = int(np.count_nonzero(excess))
    if wrong == 0:
        return None
    flat = int(np.argmax(excess))
    index = tuple(int(i) for i in np.unravel_index(flat, actual.shape))
    worst = WorstElement(
        index,
        float(right.eager[index]),
        float(actual[index]),
        float(tol[index]) if np.isfinite(tol[index]) else 0.0,
        float(right.envelope[index]),
        float(right.truth[index]) if holds_floats(right.eager) else None,
    )
    ill = int(np.count_nonzero(right.ill))
    return Mismatch(
        output,
        f"{worst.expected!r} at {list(index)}",
        f"{worst.actual!r}{of_elements(wrong, actual.size)}",
        worst,
        actual.size,
        wrong,
        ill,
        wide=int(np.count_nonzero(is_wide(right, rounding) & ~right.ill)),
    )


def of_elements(wrong: int, elements: int) -> str:
    """How many elements are wrong, in brackets; "" where there is only one element."""
    return f" ({wrong} of {elements} elements {'is' if wrong == 1 else 'are'} wrong)" if elements > 1 else ""


def _float_excess(actual: Array, right: Expected, rounding: Rounding) -> npt.NDArray[np.float64]:
    """Return the distance of each element from the truth in tolerances, where it is more than 1; else 0.

    It is infinite where the lane has a NaN or an infinity and should not, or should have one and has not.
    """
    lane, eager, truth = (
        actual.astype(np.float64),
        right.eager.astype(np.float64),
        rounded_to(right.truth, right.eager.dtype),
    )
    finite = np.isfinite(eager) & np.isfinite(truth)
    allowed = tolerance(right, rounding)
    with np.errstate(invalid="ignore", over="ignore"):
        ratio = np.abs(lane - right.truth) / np.where(finite, allowed, 1.0)
        # a number near the largest may be rounded to infinity
        largest = float(ml_dtypes.finfo(right.eager.dtype).max)
        overflows = np.isinf(lane) & (lane * truth > 0) & (np.abs(truth) + allowed > largest)
    ratio = np.where(np.isfinite(lane), ratio, np.where(overflows, 0.0, np.inf))
    excess = np.where(finite & (ratio > 1.0), ratio, 0.0)
    # where PyTorch and the truth have the same non-finite value, the lane must have it too
    agreed = ~finite & ((np.isnan(eager) & np.isnan(truth)) | (eager == truth))
    same = (np.isnan(lane) & np.isnan(eager)) | (lane == eager)
    excess = np.where(agreed & ~same, np.inf, excess)
    return np.where(np.isfinite(lane) & finite, excess, 0.0) if ALLOWANCES[rounding].overflow else excess
