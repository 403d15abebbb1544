"""The values of an output whose dtype or shape is wrong, which must not hide that its numbers are wrong too."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from generators.graph import Array, holds_floats
from oracles.expected_output import Expected
from oracles.finding import Mismatch
from oracles.tolerance import mismatch
from oracles.transforms import Rounding


def values_beside_dtype(index: int, actual: Array, right: Expected, rounding: Rounding) -> Mismatch | None:
    """Compare an output of the right shape and of another dtype with what is expected, in this dtype. Return None where
    the dtype alone explains all numbers, as 0 in place of 0.7 among integers.

    An element is not compared if the dtype has no number for it."""
    truth = right.truth.astype(np.float64)
    dtype = actual.dtype
    if holds_floats(actual):
        with np.errstate(over="ignore"):
            eager = right.eager.astype(np.float64).astype(dtype)
        return mismatch(index, actual, Expected(eager, truth, right.envelope, right.ill), rounding)
    if dtype == np.bool_:
        eager, ill = np.asarray(truth != 0), right.ill
    else:
        limits = np.iinfo(dtype)
        with np.errstate(invalid="ignore"):
            fits = (truth >= limits.min) & (truth <= limits.max)
            near = np.abs(actual.astype(np.float64) - truth) < 1 + right.envelope
        # any integer next to the number may stand for it
        exact = np.where(fits, right.eager, 0).astype(dtype)
        eager = np.where(near, actual, exact) if holds_floats(right.eager) else exact
        ill = right.ill | ~fits
    return mismatch(index, actual, Expected(eager, eager, np.zeros(eager.shape), ill), rounding)


def common_part(actual: Array, right: Expected) -> tuple[Array, Expected] | None:
    """Return the elements that have the same place in both; where only the rank differs, all in their order. None where
    there are none."""
    one, other = actual, right
    if actual.ndim != right.eager.ndim and actual.size == right.eager.size:
        one = actual.ravel()
        other = Expected(right.eager.ravel(), right.truth.ravel(), right.envelope.ravel(), right.ill.ravel())
    if not one.ndim or one.ndim != other.eager.ndim:
        return None
    part = tuple(slice(min(sizes)) for sizes in zip(one.shape, other.eager.shape, strict=True))
    common = Expected(other.eager[part], other.truth[part], other.envelope[part], other.ill[part])
    return (one[part], common) if common.eager.size else None


def is_number(dtype: np.dtype[np.generic]) -> bool:
    """Whether arrays of the dtype can be compared with those of the dtypes of difftvm."""
    return dtype.kind in "biuf" or dtype == ml_dtypes.bfloat16
