"""Which Python numbers a dtype holds."""

from __future__ import annotations

import ml_dtypes

from generators.graph import Attr, DType
from generators.op import require


def largest(dtype: DType) -> float:
    """The largest finite number of a float dtype."""
    return float(ml_dtypes.finfo(dtype.numpy).max)


def require_fits(value: Attr, dtype: DType) -> None:
    """A negative integer wraps around in uint8; a float never does."""
    assert isinstance(value, int | float)
    if dtype.is_float:
        require(abs(value) <= largest(dtype), f"{value} is too large for {dtype}")
    elif dtype is not DType.BOOL:
        low, high = dtype.range
        wraps = dtype is DType.UINT8 and isinstance(value, int)
        require((-high if wraps else low) <= value <= high, f"{dtype} cannot hold {value}")
