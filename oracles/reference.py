"""What the reference lanes say about a case, for oracles to hold other lanes against."""

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
    """One output: PyTorch's own result, the float64 truth, and how far an honest implementation may stray.

    `envelope` is the measured spread per element (float64, same shape); 0 for integers and booleans.
    `ill` marks elements that are not compared: honest implementations disagree there discontinuously, or PyTorch's own
    result is none that rounding explains.
    """

    eager: Array
    truth: Array
    envelope: npt.NDArray[np.float64]
    ill: npt.NDArray[np.bool_]


ULPS = 0.5
"""What every element may be off, in units in the last place of the truth: its rounding. The envelope has the rest."""

MAX_PYTORCH_ERROR = 16.0
"""A result of PyTorch that lies so many times (envelope + ULPS) from the truth is a bug of PyTorch's, or of ours. In
benchmarks/calibration.py the furthest of 221,534 elements lies at 1.25; what does so elsewhere (ldexp through float16,
the remainder of bfloat16 by 0.001) lies far beyond."""


def rounding_error(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """ULPS units in the last place of `dtype` at each number; all denormal numbers have one size of unit."""
    info = ml_dtypes.finfo(dtype)
    size = np.maximum(np.abs(truth.astype(np.float64)), float(info.smallest_normal))
    return np.maximum(ULPS * float(info.eps) * size, float(info.smallest_subnormal))


def rounded_to(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """The truth, infinite where it is too large for `dtype`."""
    with np.errstate(over="ignore"):
        return truth.astype(dtype).astype(np.float64)


FORWARD = ("eager", "f64", "envelope")
GRADIENT = ("gradient", "gradient-f64", "gradient-envelope")
"""The variants of the torch lanes that say together what is right: the result, the truth, the envelope."""


def eager_run(outcomes: Outcomes) -> Ran | None:
    """PyTorch's own run of the model: without it a case is not valid."""
    return next((out for lane, out in outcomes.items() if is_eager(lane) and isinstance(out, Ran)), None)


def expected(outcomes: Outcomes, variants: tuple[str, str, str] = FORWARD) -> tuple[Expected, ...] | None:
    """None where a reference lane gave nothing: then no lane's values can be judged."""
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
    """Where PyTorch does not give what exact arithmetic gives, and rounding does not explain it."""
    if eager.shape != truth.shape:
        return np.zeros(eager.shape, np.bool_)
    if not holds_floats(eager):
        return np.asarray(eager != truth)
    with np.errstate(invalid="ignore"):
        own = np.abs(eager.astype(np.float64) - truth.astype(np.float64))
        return np.asarray(own > MAX_PYTORCH_ERROR * (envelope + rounding_error(truth, eager.dtype))) & np.isfinite(own)
