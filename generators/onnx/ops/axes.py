"""Shared by operators that work along axes: which axes an attribute names, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource
from generators.graph import TensorType
from generators.onnx.call import Call
from generators.onnx.schema import Schema
from generators.op import require

FROM_END = 11
"""The first opset whose operators take axes that are counted from the end, but for those that always did."""


def counts_from_end(schema: Schema) -> bool:
    """Whether this version takes negative axes."""
    return schema.since >= FROM_END or schema.name in ("Gather", "Scatter", "OneHot")


def written(source: ChoiceSource, call: Call, axis: int, rank: int) -> int:
    """The axis as a file writes it: counted from the start, or, where this version takes that, from the end."""
    return axis - rank if counts_from_end(call.schema) and source.chance(40) else axis


def some_axis(source: ChoiceSource, call: Call, rank: int | None = None) -> int:
    """Draw an axis of the first operand, or of a tensor of this rank. The rank is not 0."""
    bound = call.first.rank if rank is None else rank
    return written(source, call, source.integer(0, bound - 1), bound)


def some_axes(source: ChoiceSource, call: Call, axes: Sequence[int], rank: int, least: int = 1) -> tuple[int, ...]:
    """Draw at least this many of the axes, mostly in ascending order."""
    chosen = source.some(axes, min(least, len(axes)), len(axes))
    chosen = sorted(chosen) if source.chance(70) else chosen
    return tuple(written(source, call, axis, rank) for axis in chosen)


def axes_one_by_one(
    source: ChoiceSource, call: Call, axes: Sequence[int], rank: int, least: int = 1
) -> tuple[int, ...]:
    """Like `some_axes`. Before opset 13 several axes ascend from the start: the interpreter of onnx squeezes and
    unsqueezes one after the other, and mistakes others for axes of what is left."""
    named = some_axes(source, call, axes, rank, least)
    return tuple(sorted(axis % rank for axis in named)) if len(named) > 1 and call.schema.since < 13 else named


def axes_in(call: Call, named: Sequence[int], rank: int) -> tuple[int, ...]:
    """The named axes of a tensor of this rank, counted from the start. Raise `Invalid` where one does not exist, is
    named twice, or is counted from the end in a version that does not take that."""
    low = -rank if counts_from_end(call.schema) else 0
    for axis in named:
        require(low <= axis < rank, f"axis {axis} is out of range for rank {rank}")
    axes = tuple(axis % rank for axis in named)
    require(len(set(axes)) == len(axes), f"axes {list(named)} name one twice")
    return axes


def axis_in(call: Call, name: str = "axis", rank: int | None = None) -> int:
    """The one axis that an attribute names, counted from the start."""
    return axes_in(call, (call.integer(name),), call.first.rank if rank is None else rank)[0]


def with_size(x: TensorType, axis: int, size: int) -> TensorType:
    """The type with another size along an axis."""
    return x.with_shape(*x.sizes[:axis], size, *x.sizes[axis + 1 :])
