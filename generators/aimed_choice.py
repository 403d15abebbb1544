"""Choices that prefer given numbers: the constants of a piece of code, and what lies beside them.

A condition of code compares a size, an attribute or a rank with a constant. Inputs that have this constant, or a
neighbour or multiple of it, make the condition true and false. AFL++ does the same with bytes of its input (Aschermann
et al., REDQUEEN, NDSS 2019: input-to-state correspondence).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from generators.choice import ChoiceSource

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

PERCENT = 25
"""How many integers in a hundred are one of the preferred ones, where one lies in the range."""

MULTIPLES = 4
"""Sizes up to this multiple of a constant are preferred."""

LARGEST = 4100
"""Larger constants give no size: a tensor of a case has few elements."""


class AimedSource(ChoiceSource):
    """Draws from another source. Integers of a range are often preferred ones; what is chosen from a list is not."""

    def __init__(self, source: ChoiceSource, preferred: Sequence[int]) -> None:
        self._source, self._preferred = source, preferred

    def integer(self, low: int, high: int) -> int:
        fitting = [number for number in self._preferred if low <= number <= high]
        if fitting and self._source.rarely(PERCENT):
            return self._source.choice(fitting)
        return self._source.integer(low, high)

    def choice(self, options: Sequence[T]) -> T:
        return self._source.choice(options)

    def chance(self, percent: int) -> bool:
        return self._source.chance(percent)

    def rarely(self, percent: int) -> bool:
        return self._source.rarely(percent)

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self._source.shuffled(options)

    def rng(self) -> np.random.Generator:
        return self._source.rng()


def numbers_beside(constants: Iterable[int | float]) -> tuple[int, ...]:
    """The integers that are preferred for attributes and ranks: each whole constant, and its neighbours, of either
    sign."""
    whole = {int(each) for each in constants if float(each).is_integer() and abs(each) <= LARGEST}
    return tuple(sorted({sign * number + step for number in whole for sign in (1, -1) for step in (-1, 0, 1)}))


def sizes_beside(constants: Iterable[int | float]) -> tuple[int, ...]:
    """The sizes that are preferred: the constants above 1, their multiples, and the neighbours of these. They have each
    remainder that a division by a small constant leaves."""
    whole = {int(each) for each in constants if float(each).is_integer() and 1 < each <= LARGEST}
    beside = {
        times * number + step
        for number in whole
        for times in range(1, MULTIPLES + 1)
        for step in range(-1, min(number, 3))
        if times * number + step <= LARGEST
    }
    return tuple(sorted(beside - {0}))
