"""Shape and dtype rules shared by many rows, as PyTorch defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from generators.graph import Attrs, DType, TensorType
from generators.ops.base import Types, require

ALL = tuple(DType)
NUMERIC = (DType.FLOAT32, DType.FLOAT64, DType.INT64)
_ORDER = (DType.BOOL, DType.INT64, DType.FLOAT32, DType.FLOAT64)
_CATEGORY = {DType.BOOL: 0, DType.INT64: 1, DType.FLOAT32: 2, DType.FLOAT64: 2}


def promote(types: Iterable[TensorType]) -> DType:
    """torch.result_type: 0-d tensors count only where their category (bool < integer < float) is higher."""
    types = tuple(types)
    dims = [t.dtype for t in types if t.rank]
    zeros = [t.dtype for t in types if not t.rank]
    best_dim = max(dims, key=_ORDER.index, default=None)
    best_zero = max(zeros, key=_ORDER.index, default=None)
    if best_dim is None:
        assert best_zero is not None
        return best_zero
    if best_zero is None or _CATEGORY[best_zero] <= _CATEGORY[best_dim]:
        return best_dim
    return max(best_dim, best_zero, key=_ORDER.index)


def floating(dtype: DType) -> DType:
    """What true division and float functions make of integers: the default dtype, float32."""
    return dtype if dtype.is_float else DType.FLOAT32


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                require(out[axis] in (1, size), f"shapes {', '.join(map(str, shapes))} do not broadcast")
                out[axis] = size
    return tuple(out)


def axis_of(dim: int, rank: int) -> int:
    """A possibly negative dimension number as an axis; a 0-d tensor takes 0 and -1, as PyTorch does."""
    bound = max(rank, 1)
    require(-bound <= dim < bound, f"dim {dim} is out of range for rank {rank}")
    return dim % bound


def size_along(x: TensorType, dim: int) -> int:
    """The size of a dimension; 1 for the only one that a 0-d tensor pretends to have."""
    return x.sizes[axis_of(dim, x.rank)] if x.rank else 1


def axes_of(dims: tuple[int, ...], rank: int) -> tuple[int, ...]:
    axes = tuple(axis_of(dim, rank) for dim in dims)
    require(len(set(axes)) == len(axes), f"dims {dims} repeat an axis")
    return axes


def require_dtype(types: Types, *allowed: DType) -> None:
    for item in types:
        require(item.dtype in allowed, f"is not defined for {item.dtype}")


def require_same_dtype(types: Types) -> None:
    require(len({t.dtype for t in types}) == 1, f"operands must share one dtype: {', '.join(map(str, types))}")


def same_type(*dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    """One operand, result of the same type."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        return types[0]

    return infer


def window(size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil: bool = False) -> int:
    """Output size of a sliding window (torch.nn.MaxPool2d, Conv2d). With `ceil`, windows that would start in
    the right padding are dropped."""
    require(kernel > 0 and stride > 0 and dilation > 0 and padding >= 0, "kernel, stride, dilation must be positive")
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    require(span >= 0, f"window of {kernel} (dilation {dilation}) is larger than {size} padded by {padding}")
    out = span // stride + 1
    if ceil:
        out = -(-span // stride) + 1
        if (out - 1) * stride >= size + padding:
            out -= 1
    return out
