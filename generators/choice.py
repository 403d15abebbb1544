"""Where a generator's decisions come from: numpy's bit generator in campaigns, Hypothesis draws in property tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

BLOCK = 256


class ChoiceSource(ABC):
    """Everything is built on one primitive, so that both sources make the same programs."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high], both ends included."""

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """For what is plain: yes comes first, and what Hypothesis shrinks becomes it."""
        return self.integer(1, 100) <= percent

    def rarely(self, percent: int) -> bool:
        """For what is odd: no comes first."""
        return self.integer(1, 100) > 100 - percent

    def shuffled(self, options: Sequence[T]) -> list[T]:
        rest = list(options)
        return [rest.pop(self.integer(0, len(rest) - 1)) for _ in options]

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """`low` to `high` of the options, in any order."""
        return self.shuffled(options)[: self.integer(low, min(high, len(options)))]

    def rng(self) -> np.random.Generator:
        """A generator for bulk values, where a choice per element would be too dear."""
        return np.random.Generator(np.random.PCG64(self.integer(0, 2**32 - 1)))


class NumpySource(ChoiceSource):
    """Choices of test `index` in the campaign of `seed`: the pair alone decides, whatever ran before. Other streams of
    the same test decide other things about it."""

    def __init__(self, seed: int, index: int = 0, stream: int = 0) -> None:
        self._bits = np.random.PCG64([seed, index, stream] if stream else [seed, index])
        self._words: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """A 64-bit word scaled down: spans are small, so the bias is far below what anyone could see."""
        if not self._words:  # in blocks: a call into numpy for each choice was a third of generation
            self._words = self._bits.random_raw(BLOCK).tolist()
        return low + (self._words.pop() * (high - low + 1) >> 64)
