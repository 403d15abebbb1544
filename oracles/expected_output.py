"""What is expected of one output of a case, and how far rounding alone moves a number."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

from generators.graph import Array


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one output. All arrays have its shape.

    eager     the own result of PyTorch, or of onnxruntime for a case of ONNX
    truth     the result in float64
    envelope  how far right implementations may differ from the truth, measured for each element; 0 for integers and
              booleans
    ill       whether an element is ill-conditioned and so not compared: right implementations may give very different
              numbers there, or rounding does not explain the eager result
    """

    eager: Array
    truth: Array
    envelope: npt.NDArray[np.float64]
    ill: npt.NDArray[np.bool_]


ULPS = 0.5
"""The error of rounding the truth to the output's dtype, in units in the last place. The envelope covers the rest."""


def rounding_error(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """Return ULPS units in the last place of `dtype` for each number. Denormal numbers all have the same unit."""
    info = ml_dtypes.finfo(dtype)
    size = np.maximum(np.abs(truth.astype(np.float64)), float(info.smallest_normal))
    return np.maximum(ULPS * float(info.eps) * size, float(info.smallest_subnormal))


def rounded_to(truth: Array, dtype: np.dtype[np.generic]) -> npt.NDArray[np.float64]:
    """Return the truth rounded to `dtype`, as float64: infinite where it is too large for `dtype`."""
    with np.errstate(over="ignore"):
        return truth.astype(dtype).astype(np.float64)
