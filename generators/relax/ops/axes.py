"""Axes as attributes: how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource


def some_axis(source: ChoiceSource, rank: int) -> int:
    """Draw an axis, counted from the start or from the end. The rank is not 0."""
    axis = source.integer(0, rank - 1)
    return axis - rank if source.chance(40) else axis


def some_axes(source: ChoiceSource, axes: Sequence[int], rank: int, least: int = 1) -> tuple[int, ...]:
    """Draw at least this many of the axes, mostly in ascending order."""
    chosen = source.some(axes, min(least, len(axes)), len(axes))
    chosen = sorted(chosen) if source.chance(70) else chosen
    return tuple(axis - rank if source.chance(30) else axis for axis in chosen)
