"""Shared by rows that work along axes: their `dim`, the shape after a reduction, and inputs without equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import INT, INTS, AttrKind, Types, require
from generators.shared.draws import ranked_axis
from generators.shared.sizes import product
from generators.torch.ops.rules import NUMERIC, axes_of, axis_of

SOME_DIMS = AttrKind("an integer or a list of integers", lambda v: INT.accepts(v) or INTS.accepts(v))
DIMS = AttrKind("an integer, a list of integers or null", lambda v: v is None or SOME_DIMS.accepts(v))


# --- inference


def reduced(x: TensorType, dim: Attr, *, all_if_empty: bool = True) -> tuple[int, ...]:
    """The axes that `dim` names. null means all axes, and for most operators an empty list does too."""
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
    """How many elements are reduced to one element of the result."""
    return product([x.sizes[axis] for axis in axes]) if x.rank else 1


def require_elements(x: TensorType, axes: Sequence[int]) -> None:
    """For reductions that have no result without elements: the largest element, the median."""
    require(count(x, axes) > 0, f"there is no such element, for {x} is empty there")


def along(x: TensorType, dim: Attr) -> int:
    """The one axis that `dim` names."""
    assert isinstance(dim, int)
    return axis_of(dim, x.rank)


def terms(types: Types, attrs: Attrs) -> int:
    return max(1, count(types[0], reduced(types[0], attrs["dim"])))


# --- attributes


def draw_axis(source: ChoiceSource, types: Types) -> int:
    """One axis, sometimes counted from the end."""
    bound = max(types[0].rank, 1)
    return source.integer(0, bound - 1) - (bound if source.chance(40) else 0)


def draw_axes(source: ChoiceSource, types: Types) -> tuple[int, ...]:
    """At least one axis, in any order, each counted from the start or from the end."""
    bound = max(types[0].rank, 1)
    axes = source.some(range(bound), 1, bound)
    return tuple(axis - bound if source.chance(40) else axis for axis in axes)


def draw_some_dims(source: ChoiceSource, types: Types) -> int | tuple[int, ...]:
    return draw_axis(source, types) if source.chance(50) else draw_axes(source, types)


def draw_dims(source: ChoiceSource, types: Types) -> int | tuple[int, ...] | None:
    what = source.integer(1, 100)
    return None if what <= 30 else () if what <= 38 else draw_some_dims(source, types)


# --- numbers without ties


def draw_ranked_axis(source: ChoiceSource, types: Types) -> int:
    axis = ranked_axis(types[0])
    return axis - max(types[0].rank, 1) if source.chance(40) else axis


_WHOLE = {DType.FLOAT16: 2048, DType.BFLOAT16: 256, DType.FLOAT32: 2**24, DType.FLOAT64: 2**53}
"""The largest integer up to which the dtype holds all integers."""


def without_ties(b: Builder, dtypes: Sequence[DType] = NUMERIC, ranks: tuple[int, int] = (0, 5)) -> Value:
    """A fresh input whose numbers differ along its `ranked_axis`, for operators where PyTorch does not define which of
    several equal numbers it chooses."""
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
    if axis == 0 and type.rank > 1:  # the layout of an input may repeat one slice along its first axis
        return b.buffer(type.dtype, *type.sizes, domain=numbers)
    return b.fresh_input(type, domain=numbers)
