"""The numeric equation (DESIGN section 5): an element is wrong where

    |lane - truth| > C x (envelope + |eager - truth| + ULPS ulps of the truth)

`truth` is the float64 evaluation, `envelope` the measured spread of perturbed evaluations. Integers and booleans are
exact. Ill-conditioned elements are not compared. NaN and infinities must stand where PyTorch's stand.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import numpy.typing as npt

from generators.graph import Array, holds_floats
from oracles.finding import Mismatch, Worst
from oracles.reference import Expected

C = 8.0
"""How many measured spreads an honest implementation may stray.

`benchmarks/calibration.py --cases 500 --seed 3`: of 66,459 elements from onnxruntime 90 % stay below 0.03; beyond 8 lie
only those of two float64 batch_norms, whose epsilon an ONNX file holds in float32. 8 leaves room for implementations
that nobody measured yet.
"""

ULPS = 4.0


def tolerance(right: Expected) -> npt.NDArray[np.float64]:
    """Per element, in the output's own units; infinite where PyTorch itself overflowed."""
    if not holds_floats(right.eager):
        return np.zeros(right.eager.shape)
    info = ml_dtypes.finfo(right.eager.dtype)
    truth, eager = right.truth.astype(np.float64), right.eager.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        own = np.where(np.isfinite(eager) & np.isfinite(truth), np.abs(eager - truth), np.inf)
        return C * (right.envelope + own + ULPS * float(info.eps) * np.abs(truth)) + float(info.tiny)


def mismatch(output: int, actual: Array, right: Expected) -> Mismatch | None:
    """The verdict on one output of the right shape and dtype; None where it is within tolerance."""
    if holds_floats(right.eager):
        excess, tol = _float_excess(actual, right), tolerance(right)
    else:
        excess = (actual != right.eager).astype(np.float64)
        tol = np.zeros(actual.shape)
    excess = np.where(right.ill, 0.0, excess)
    wrong = int(np.count_nonzero(excess))
    if wrong == 0:
        return None
    flat = int(np.argmax(excess))
    index = tuple(int(i) for i in np.unravel_index(flat, actual.shape))
    worst = Worst(
        index,
        float(right.eager[index]),
        float(actual[index]),
        float(tol[index]) if np.isfinite(tol[index]) else 0.0,
        float(right.envelope[index]),
    )
    ill = int(np.count_nonzero(right.ill))
    return Mismatch(
        output,
        f"{worst.expected!r} at {list(index)}",
        f"{worst.actual!r} ({wrong} of {actual.size} elements are wrong)",
        worst,
        actual.size,
        wrong,
        ill,
    )


def _float_excess(actual: Array, right: Expected) -> npt.NDArray[np.float64]:
    """How many tolerances beyond the tolerance each element is; 0 within."""
    lane, truth, eager = (a.astype(np.float64) for a in (actual, right.truth, right.eager))
    finite = np.isfinite(eager) & np.isfinite(truth)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        ratio = np.abs(lane - truth) / np.where(finite, tolerance(right), 1.0)
    ratio = np.where(np.isfinite(lane), ratio, np.inf)
    excess = np.where(finite & (ratio > 1.0), ratio, 0.0)
    # where PyTorch and the truth are both the same non-finite value, so must the lane be
    agreed = ~finite & ((np.isnan(eager) & np.isnan(truth)) | (eager == truth))
    same = (np.isnan(lane) & np.isnan(eager)) | (lane == eager)
    return np.where(agreed & ~same, np.inf, excess)
