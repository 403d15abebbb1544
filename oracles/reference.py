"""The reference of a case: the results with which the oracles compare those of other lanes.

A case has a full reference where eager PyTorch, the evaluation in float64 and the envelope all have a result.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

from generators.graph import Array, holds_floats
from oracles.lane import Engine, is_eager
from oracles.outcome import Outcomes, Ran


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one output. All arrays have its shape.

    eager     PyTorch's own result
    truth     the result in float64
    envelope  how far right implementations may differ from the truth, measured for each element; 0 for integers and
              booleans
    ill       whether an element is ill-conditioned and so not compared: right implementations may give very different
              numbers there, or rounding does not explain PyTorch's own result
    """

    eager: Array
    truth: Array
    envelope: npt.NDArray[np.float64]
    ill: npt.NDArray[np.bool_]


ULPS = 0.5
"""The error of rounding the truth to the output's dtype, in units in the last place. The envelope covers the rest."""

MAX_PYTORCH_ERROR = 16.0
"""An element where PyTorch is further from the truth than this many (envelope + ULPS) is not compared: PyTorch or
difftvm has a bug there. In benchmarks/calibration.py the furthest of 221,534 elements is at 1.25. Known bugs of this
kind (ldexp through float16, the remainder of bfloat16 by 0.001) are far beyond 16."""


def rounding_error(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """Return ULPS units in the last place of `dtype` for each number. Denormal numbers all have the same unit."""
    info = ml_dtypes.finfo(dtype)
    size = np.maximum(np.abs(truth.astype(np.float64)), float(info.smallest_normal))
    return np.maximum(ULPS * float(info.eps) * size, float(info.smallest_subnormal))


def rounded_to(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """Return the truth rounded to `dtype`, as float64: infinite where it is too large for `dtype`."""
    with np.errstate(over="ignore"):
        return truth.astype(dtype).astype(np.float64)


FORWARD = ("eager", "f64", "envelope")
GRADIENT = ("gradient", "gradient-f64", "gradient-envelope")
"""The variants of the torch lanes that together are the reference: PyTorch's result, the truth, the envelope."""


def eager_run(outcomes: Outcomes) -> Ran | None:
    """Return PyTorch's own run of the model; None where the case is invalid."""
    return next((out for lane, out in outcomes.items() if is_eager(lane) and isinstance(out, Ran)), None)


def expected(outcomes: Outcomes, variants: tuple[str, str, str] = FORWARD) -> tuple[Expected, ...] | None:
    """Return what is expected of each output; None where a reference lane has no result, so no values can be judged."""
    runs = {spec.variant: out for spec, out in outcomes.items() if spec.engine is Engine.TORCH and isinstance(out, Ran)}
    eager, truth, envelope = (runs.get(name) for name in variants)
    if eager is None or truth is None or envelope is None:
        return None
    count = len(eager.outputs)
    spreads, ills = envelope.outputs[:count], envelope.outputs[count:]
    return tuple(
        Expected(e, t, s, i.astype(np.bool_) | _doubtful(e, t, s))
        for e, t, s, i in zip(eager.outputs, truth.outputs, spreads, ills, strict=True)
    )


def _doubtful(eager: Array, truth: Array, envelope: Array) -> npt.NDArray[np.bool_]:
    """Mark the elements where rounding does not explain the difference between PyTorch's result and the truth."""
    if eager.shape != truth.shape:
        return np.zeros(eager.shape, np.bool_)
    if not holds_floats(eager):
        return np.asarray(eager != truth)
    with np.errstate(invalid="ignore", over="ignore"):
        own = np.abs(eager.astype(np.float64) - truth.astype(np.float64))
        return np.asarray(own > MAX_PYTORCH_ERROR * (envelope + rounding_error(truth, eager.dtype))) & np.isfinite(own)
