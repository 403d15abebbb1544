"""What rows that work along axes share: their `dim`, what a reduction leaves of a shape, numbers without ties."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.ops.base import INT, INTS, Kind, Types, require
from generators.ops.operands import product
from generators.ops.rules import NUMERIC, axes_of, axis_of

SOME_DIMS = Kind("an integer or a list of integers", lambda v: INT.accepts(v) or INTS.accepts(v))
DIMS = Kind("an integer, a list of integers or null", lambda v: v is None or SOME_DIMS.accepts(v))


# --- inference


def reduced(x: TensorType, dim: Attr, *, all_if_empty: bool = True) -> tuple[int, ...]:
    """The axes that `dim` names: null is all of them, and so is an empty list to most operators."""
    if dim is None or (dim == () and all_if_empty):
        return tuple(range(x.rank))
    named = dim if isinstance(dim, tuple) else (dim,)
    return axes_of(tuple(axis for axis in named if isinstance(axis, int)), x.rank)


def left(x: TensorType, axes: Sequence[int], keepdim: Attr) -> tuple[int, ...]:
    """The shape without the reduced axes, or with 1 in their place."""
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(x.sizes))
    return tuple(size for axis, size in enumerate(x.sizes) if axis not in axes)


def count(x: TensorType, axes: Sequence[int]) -> int:
    """How many elements go into one of the result."""
    return product([x.sizes[axis] for axis in axes]) if x.rank else 1


def require_elements(x: TensorType, axes: Sequence[int]) -> None:
    """For reductions of which nothing has no value: a largest element, a median."""
    require(count(x, axes) > 0, f"there is no such element of nothing, in {x}")


def along(x: TensorType, dim: Attr) -> int:
    """The one axis that `dim` names."""
    assert isinstance(dim, int)
    return axis_of(dim, x.rank)


def terms(types: Types, attrs: Attrs) -> int:
    return max(1, count(types[0], reduced(types[0], attrs["dim"])))


# --- attributes


def draw_axis(source: ChoiceSource, types: Types) -> int:
    """One axis, counted from the end now and then."""
    bound = max(types[0].rank, 1)
    return source.integer(0, bound - 1) - (bound if source.chance(40) else 0)


def draw_axes(source: ChoiceSource, types: Types) -> tuple[int, ...]:
    """One axis to all of them, in any order, each counted from either end."""
    bound = max(types[0].rank, 1)
    axes = source.some(range(bound), 1, bound)
    return tuple(axis - bound if source.chance(40) else axis for axis in axes)


def draw_some_dims(source: ChoiceSource, types: Types) -> int | tuple[int, ...]:
    return draw_axis(source, types) if source.chance(50) else draw_axes(source, types)


def draw_dims(source: ChoiceSource, types: Types) -> int | tuple[int, ...] | None:
    what = source.integer(1, 100)
    return None if what <= 30 else () if what <= 38 else draw_some_dims(source, types)


# --- numbers without ties


def ranked_axis(x: TensorType) -> int:
    """The axis along which `without_ties` makes numbers differ: attributes are drawn from types alone, so that the type
    must tell it, and any axis should have its turn."""
    return sum(map(int, x.sizes)) % x.rank if x.rank else 0


def draw_ranked_axis(source: ChoiceSource, types: Types) -> int:
    axis = ranked_axis(types[0])
    return axis - max(types[0].rank, 1) if source.chance(40) else axis


_WHOLE = {DType.FLOAT16: 2048, DType.BFLOAT16: 256, DType.FLOAT32: 2**24, DType.FLOAT64: 2**53}
"""Up to where integers are numbers of the dtype."""


def without_ties(b: Builder, dtypes: Sequence[DType] = NUMERIC, ranks: tuple[int, int] = (0, 5)) -> Value:
    """A fresh input whose numbers differ along its `ranked_axis`: where PyTorch does not say which of equals wins."""
    type = TensorType(b.dtype(dtypes), b.shape(b.source.integer(*ranks)))
    if not type.rank:
        return b.fresh_input(type)
    axis = ranked_axis(type)
    size = int(type.sizes[axis])
    low, high = -size // 2 - 2, size + b.source.integer(0, 4)
    least, most = type.dtype.range if type.dtype.is_integer else (-_WHOLE[type.dtype], _WHOLE[type.dtype])
    if high > most:
        type = type.with_dtype(DType.FLOAT32)
    numbers = distinct(max(low, least), high, axis)
    if axis == 0 and type.rank > 1:  # an input may be laid out with the same slice all along its first axis
        return b.buffer(type.dtype, *type.sizes, domain=numbers)
    return b.fresh_input(type, domain=numbers)
