"""Operands, sizes and axes, as rows of several dialects draw them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress

from generators.builder import Builder
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Attrs, Invalid, TensorType, Value
from generators.op import Infer, Types, require

KERNELS = {1: (1, 1, 2, 3, 3, 4, 5, 7), 2: (1, 1, 2, 3, 3, 3, 4, 5), 3: (1, 1, 2, 2, 3)}
"""Sizes of kernels of convolutions, by the number of dimensions that they slide over."""
CHANNELS = (1, 1, 2, 3, 4, 4, 5, 8, 15, 16, 17)
WIDTHS = (1, 2, 3, 5, 8, 16, 17, 33)


def width(b: Builder, times: int) -> int:
    """A size for a new dimension of a result that would have `times` elements without this dimension."""
    return b.source.choice([w for w in WIDTHS if w * times <= b.limits.max_numel] or [1])


def further(b: Builder, fits: Callable[[TensorType], bool], otherwise: Callable[[], TensorType]) -> Value:
    """One more operand. No call reads the first operand yet, so `pick` alone would mostly choose it again."""
    return b.fresh_input(otherwise()) if b.source.chance(40) else b.pick(fits, otherwise)


def thinned(b: Builder, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, with some leading dimensions left out and some sizes set to 1."""
    if b.source.chance(50):
        return shape
    kept = shape[b.source.integer(0, len(shape)) :]
    return tuple(1 if b.source.chance(30) else size for size in kept)


def accepted(infer: Infer, types: Types, options: Iterable[Attrs]) -> list[Attrs]:
    """The options that fit operands of these types."""
    found = []
    for attrs in options:
        with suppress(Invalid):
            infer(types, attrs)
            found.append(attrs)
    return found


# --- axes on which operands and attributes agree


def agreed(x: TensorType, about: str = "") -> ChoiceSource:
    """A source of choices on which operands and attributes must agree, such as the dimension of an index. It depends on
    the type alone, because attributes are drawn from types."""
    return NumpySource(zlib.crc32(f"{x} {about}".encode()))


def agreed_axis(x: TensorType) -> int:
    """An axis that has positions (0 for a 0-d tensor); raises `Invalid` where there is none."""
    axes = [axis for axis, size in enumerate(x.sizes) if size] if x.rank else [0]
    require(len(axes) > 0, f"{x} has no positions")
    return agreed(x).choice(axes)


def ranked_axis(x: TensorType) -> int:
    """The axis along which no two numbers of an input are equal, for operators that rank them. Attributes are drawn
    from types alone, so the axis must follow from the type; different types give different axes."""
    return sum(map(int, x.sizes)) % x.rank if x.rank else 0
