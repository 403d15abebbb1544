"""The two fillings of the memory around tensors, which lanes and scripts share."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

LEAST_MARGIN = 256
"""The smallest margin on each side of a tensor, in bytes."""

_LOW = {"f": -1024.0, "i": -100, "u": 0, "b": False}
_HIGH = {"f": 1024.0, "i": 100, "u": 200, "b": True}
"""By the kind of dtype. The maximum and the minimum of a tensor change with one of them, and an index that is read from
them stays near the tensor."""

_BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def filled_dtype(name: str) -> np.dtype[Any]:
    """The dtype in which the memory around a tensor is filled: the tensor's, or uint8 where numpy has no such dtype.

    `name` is the dtype as TVM writes it."""
    if name == "bfloat16":
        return _BFLOAT16
    try:
        dtype = np.dtype(name)
    except TypeError:
        return np.dtype(np.uint8)
    return dtype if dtype.kind in _LOW else np.dtype(np.uint8)


def low(dtype: np.dtype[Any]) -> float | bool:
    return _LOW[_kind(dtype)]


def high(dtype: np.dtype[Any]) -> float | bool:
    return _HIGH[_kind(dtype)]


def _kind(dtype: np.dtype[Any]) -> str:
    return "f" if dtype == _BFLOAT16 else dtype.kind
