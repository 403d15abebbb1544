"""The dtype in which definitions compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from generators.graph import Array

_widens = True


def wide(array: Array) -> Array:
    """Half precision as float32, in which sums are computed; as it is inside of `in_own_dtype`."""
    is_half = array.dtype.itemsize == 2 and array.dtype.kind in "fV"
    return array.astype(np.float32) if _widens and is_half else array


@contextmanager
def in_own_dtype() -> Iterator[None]:
    """Let definitions compute in the dtypes of their operands. For one thread at a time."""
    global _widens
    _widens = False
    try:
        yield
    finally:
        _widens = True
