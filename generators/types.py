"""The type of a value: a dtype, and a shape whose dimensions are numbers or formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from generators.symbolic import Expr, ExpressionError, Size

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
else:  # numpy takes 100 ms, which `fuzz status` and `fuzz triage` do not need
    Array = Any


class Invalid(ValueError):
    """Raised for a graph, case or file that breaks a rule. The message names the rule and the place in one line."""


class DType(StrEnum):
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"

    @property
    def is_float(self) -> bool:
        return self in FLOATS

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer dtype; bool is none."""
        return self in INTEGERS or self in UNDRAWN

    @property
    def numpy(self) -> np.dtype[Any]:
        return _numpy_dtypes()[self]

    @staticmethod
    def of(type: np.dtype[Any] | None) -> DType | None:
        """The dtype of arrays of a type of numpy; None where there is none, and for None, which equals its float64."""
        return next((dtype for dtype, each in _numpy_dtypes().items() if type is not None and each == type), None)

    @property
    def bits(self) -> int:
        return self.numpy.itemsize * 8

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest number of an integer dtype, and 0 and 1 for bool."""
        if self is DType.BOOL:
            return 0, 1
        import numpy as np

        info = np.iinfo(self.numpy)
        return int(info.min), int(info.max)

    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger number of a float dtype."""
        import ml_dtypes

        return float(ml_dtypes.finfo(self.numpy).eps)


FLOATS = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16)
HALVES = (DType.FLOAT16, DType.BFLOAT16)
INTEGERS = (DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8)
UNDRAWN = (DType.UINT16, DType.UINT32, DType.UINT64)
"""Values of files may have these dtypes. No row takes them, and nothing draws them."""
DRAWN = tuple(dtype for dtype in DType if dtype not in UNDRAWN)
DTYPE_NAMES = frozenset(dtype.value for dtype in DType)


@cache
def _numpy_dtypes() -> dict[DType, np.dtype[Any]]:
    import ml_dtypes
    import numpy as np

    return {d: np.dtype(d.value if d is not DType.BFLOAT16 else ml_dtypes.bfloat16) for d in DType}


def holds_floats(array: Array) -> bool:
    """Whether an array has a float dtype. numpy's own check would miss bfloat16."""
    return array.dtype in _float_arrays()


@cache
def _float_arrays() -> frozenset[np.dtype[Any]]:
    return frozenset(dtype.numpy for dtype in FLOATS)


Dim = int | Expr


@dataclass(frozen=True, slots=True)
class TensorType:
    """A dtype and a shape, written `float32[2,3,2*n]`. A 0-d tensor is `float32[]`."""

    dtype: DType
    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @staticmethod
    def parse(text: str) -> TensorType:
        match = re.fullmatch(r"([a-z0-9]+)\[([a-z0-9_,+*/()-]*)\]", text)
        if not match or match[1] not in DTYPE_NAMES:
            raise Invalid(f"{text!r} is no tensor type, such as float32[2,3]")
        return TensorType(DType(match[1]), tuple(_parse_dim(d) for d in match[2].split(",")) if match[2] else ())

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape as integers. Raise `Invalid` where it has symbols."""
        for dim in self.shape:
            if not isinstance(dim, int):
                raise Invalid(f"{self} has symbolic dimensions: bind the graph to sizes first")
        return self.shape  # type: ignore[return-value]

    @property
    def numel(self) -> int:
        count = 1
        for size in self.sizes:
            count *= size
        return int(count)

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(name for dim in self.shape if isinstance(dim, Expr) for name in dim.symbols)

    def bind(self, sizes: Mapping[str, int]) -> TensorType:
        return TensorType(self.dtype, tuple(d.at(sizes) if isinstance(d, Expr) else d for d in self.shape))

    def with_shape(self, *shape: Dim) -> TensorType:
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)

    def formal(self) -> TensorType:
        """Return the type with formulas in place of the sizes that have one."""
        return TensorType(self.dtype, tuple(_formal(dim) for dim in self.shape))


def _formal(dim: Dim) -> Dim:
    if not isinstance(dim, Size):
        return dim
    constant = dim.expr.constant
    return dim.expr if constant is None else constant


def _parse_dim(text: str) -> Dim:
    if re.fullmatch(r"0|[1-9][0-9]{0,9}", text):
        return int(text)
    try:
        expr = Expr.parse(text)
    except ExpressionError:
        raise Invalid(f"{text!r} is no dimension: expected a size, a symbol or a formula of them") from None
    if expr.constant is not None or str(expr) != text:
        raise Invalid(f"{text!r} is no dimension: write it {expr}")
    return expr


SMALL_DTYPES: Mapping[str, DType] = {
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"), DType.FLOAT32),
    **dict.fromkeys(("float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"), DType.FLOAT32),
    **dict.fromkeys(("int4", "int2"), DType.INT8),
    **dict.fromkeys(("uint4", "uint2"), DType.UINT8),
}
"""The dtypes of ml_dtypes that no graph has, and the wider dtype that holds each of their numbers exactly."""
