"""Element types of ONNX that are smaller than the dtypes of cases: floats of 8, 6 or 4 bits, integers of 4 or
2 bits.

A case *holds* a tensor of such a type in a wider dtype, which has each of its numbers exactly. In the file of a model
that a person gave, the tensor keeps its own type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import ml_dtypes
import numpy as np

from generators.graph import SMALL_DTYPES, Array, DType


class SmallType(NamedTuple):
    """number: of the element type in onnx.TensorProto. name: of the dtype."""

    number: int
    name: str

    @property
    def held(self) -> DType:
        """The dtype in which a case holds it."""
        return SMALL_DTYPES[self.name]

    @property
    def numpy(self) -> np.dtype[np.generic]:
        found: np.dtype[np.generic] = np.dtype(getattr(ml_dtypes, self.name))
        return found

    @property
    def is_float(self) -> bool:
        return self.held.is_float

    @property
    def bits(self) -> int:
        """Those of a number. numpy takes a byte for each."""
        info = ml_dtypes.finfo if self.is_float else ml_dtypes.iinfo
        return int(info(self.numpy).bits)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest finite number."""
        info = ml_dtypes.finfo(self.numpy) if self.is_float else ml_dtypes.iinfo(self.numpy)
        return float(info.min), float(info.max)


SMALL_TYPES: Mapping[str, SmallType] = {
    "FLOAT8E4M3FN": SmallType(17, "float8_e4m3fn"),
    "FLOAT8E4M3FNUZ": SmallType(18, "float8_e4m3fnuz"),
    "FLOAT8E5M2": SmallType(19, "float8_e5m2"),
    "FLOAT8E5M2FNUZ": SmallType(20, "float8_e5m2fnuz"),
    "UINT4": SmallType(21, "uint4"),
    "INT4": SmallType(22, "int4"),
    "FLOAT4E2M1": SmallType(23, "float4_e2m1fn"),
    "FLOAT8E8M0": SmallType(24, "float8_e8m0fnu"),
    "UINT2": SmallType(25, "uint2"),
    "INT2": SmallType(26, "int2"),
    "FLOAT6E2M3": SmallType(27, "float6_e2m3fn"),
    "FLOAT6E3M2": SmallType(28, "float6_e3m2fn"),
}
"""By the names of onnx.TensorProto's element types (onnx.proto3)."""

OF_NUMBER: Mapping[int, SmallType] = {small.number: small for small in SMALL_TYPES.values()}
OF_DTYPE: Mapping[str, SmallType] = {small.name: small for small in SMALL_TYPES.values()}


def held(array: Array) -> Array:
    """The array as a case holds it: that of a small type in the wider dtype."""
    small = OF_DTYPE.get(str(array.dtype))
    return array.astype(small.held.numpy) if small else array


def in_small_type(array: Array, small: SmallType) -> Array:
    """The numbers that a case holds in the small type. What this type does not have becomes the nearest number that it
    has, and an infinity or NaN what the type has for it."""
    with np.errstate(invalid="ignore"):
        near = np.where(np.isfinite(array), np.clip(array, *small.range), array)
        return near.astype(array.dtype).astype(small.numpy)
