"""Shape and dtype rules shared by many rows, as PyTorch defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from generators.graph import DRAWN, FLOATS, INTEGERS, Attrs, DType, Invalid, TensorType
from generators.op import Types, require

ALL = DRAWN
NUMERIC = (*FLOATS, *INTEGERS)
DEFAULT_FLOAT = DType.FLOAT32
SINGLE_AND_DOUBLE = (DType.FLOAT32, DType.FLOAT64)

Number = bool | int | float


def category(dtype: DType) -> int:
    """Return 0 for bool, 1 for integers, 2 for floats. `promote` compares the categories of its operands."""
    return 0 if dtype is DType.BOOL else 2 if dtype.is_float else 1


def join(a: DType, b: DType) -> DType:
    """The smallest dtype that holds both, as torch.promote_types defines it."""
    if a == b:
        return a
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if a.is_float:
        return DType.FLOAT32 if a.bits == b.bits else a if a.bits > b.bits else b
    if DType.UINT8 in (a, b):  # uint8, the only unsigned dtype
        signed = b if a is DType.UINT8 else a
        return DType.INT16 if signed is DType.INT8 else signed
    return a if a.bits > b.bits else b


def promote(types: Iterable[TensorType], *numbers: Number) -> DType:
    """Return torch.result_type of tensors and numbers.

    Tensors with dimensions determine it. A 0-d tensor changes it only if its category (bool < integer < float) is
    higher, and a Python number only if its category is higher than those of all tensors.
    """
    dims = zeros = None
    for t in types:
        if t.shape:
            dims = t.dtype if dims is None else join(dims, t.dtype)
        else:
            zeros = t.dtype if zeros is None else join(zeros, t.dtype)
    result = dims if dims is not None else zeros
    if dims is not None and zeros is not None and category(zeros) > category(dims):
        result = zeros
    for number in numbers:
        of = DType.BOOL if isinstance(number, bool) else DType.INT64 if isinstance(number, int) else DEFAULT_FLOAT
        if result is None or category(of) > category(result):
            result = of
    assert result is not None, "something to promote"
    return result


def floating(dtype: DType) -> DType:
    """The result dtype of true division and float functions: for integers the default dtype, float32."""
    return dtype if dtype.is_float else DEFAULT_FLOAT


def summed(dtype: DType) -> DType:
    """The result dtype of sums and products: int64 for integers and booleans."""
    return dtype if dtype.is_float else DType.INT64


def axis_of(dim: int, rank: int) -> int:
    """Return a possibly negative dimension number as an axis. For a 0-d tensor 0 and -1 are valid, as in PyTorch."""
    bound = max(rank, 1)
    require(-bound <= dim < bound, f"dim {dim} is out of range for rank {rank}")
    return dim % bound


def size_along(x: TensorType, dim: int) -> int:
    """The size of a dimension; 1 for a 0-d tensor, which PyTorch treats as one dimension here."""
    return x.sizes[axis_of(dim, x.rank)] if x.rank else 1


def axes_of(dims: tuple[int, ...], rank: int) -> tuple[int, ...]:
    axes = tuple(axis_of(dim, rank) for dim in dims)
    require(len(set(axes)) == len(axes), f"dims {dims} repeat an axis")
    return axes


def require_dtype(types: Types, *allowed: DType) -> None:
    for item in types:
        if item.dtype not in allowed:
            raise Invalid(f"is not defined for {item.dtype}")


def require_same_dtype(types: Types) -> None:
    if len({t.dtype for t in types}) != 1:
        raise Invalid(f"operands must share one dtype: {', '.join(map(str, types))}")


def same_type(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """One operand, and a result of the same type."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        return types[0]

    return infer
