"""Sizes of several dimensions, or of several operands, taken together."""

from __future__ import annotations

from collections.abc import Iterable

from generators.builder import Builder
from generators.graph import Invalid
from generators.symbolic import formula

MOST_FACTOR = 10**10
"""By no larger number a row multiplies a size: the product could not be a whole number."""


def product(sizes: Iterable[int]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out


def meet(a: int, c: int) -> bool:
    """Whether two sizes broadcast."""
    return a == c or 1 in (a, c)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which all broadcast. Raise `Invalid` where there is none."""
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if out[axis] not in (1, size):
                    raise Invalid(f"shapes {', '.join(map(str, shapes))} do not broadcast")
                out[axis] = size
    return tuple(out)


def sliced(size: int, start: int, end: int, step: int) -> int:
    """How many elements a slice of a dimension has. Bounds below 0 count from the end, and are then clamped; the start
    to an element, for both directions."""
    if size == 0:
        return 0
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (min(max(bound + size if bound < 0 else bound, low), high) for bound in (start, end))
    first = max(first, 0)
    way, every = (last - first, step) if step > 0 else (first - last, -step)
    return max((way + every - 1) // every, 0)


def least(b: Builder, size: int) -> int:
    """The smallest value of a size over all bindings of its symbols: indices must stay below it."""
    return min(formula(size).at(sizes) for sizes in (b.sizes, *b.also))
