"""The dtype in which definitions compute."""

from __future__ import annotations

import numpy as np

from generators.graph import Array


def wide(array: Array) -> Array:
    """Half precision as float32, in which sums are computed."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind in "fV" else array
