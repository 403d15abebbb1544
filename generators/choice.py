"""The source of a generator's choices: numpy's bit generator in campaigns, Hypothesis in property tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

BLOCK = 256
"""How many 64-bit words are drawn from numpy at once."""


class ChoiceSource(ABC):
    """A source of choices. All choices are made by `integer`, so that every source can make the same programs."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """Draw an integer in [low, high], both ends included."""

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """Return True with this probability. Hypothesis shrinks it to True: use it for the plain alternative."""
        return self.integer(1, 100) <= percent

    def rarely(self, percent: int) -> bool:
        """Return True with this probability. Hypothesis shrinks it to False: use it for the unusual alternative."""
        return self.integer(1, 100) > 100 - percent

    def shuffled(self, options: Sequence[T]) -> list[T]:
        rest = list(options)
        return [rest.pop(self.integer(0, len(rest) - 1)) for _ in options]

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """Return `low` to `high` of the options, shuffled."""
        return self.shuffled(options)[: self.integer(low, min(high, len(options)))]

    def rng(self) -> np.random.Generator:
        """Return a numpy generator for the elements of arrays: a choice per element would cost too much."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(self.integer(0, 2**32 - 1)))


class NumpySource(ChoiceSource):
    """The choices of test `index` in a campaign with this seed. They depend on nothing else, not on earlier tests.

    A test uses one stream for each kind of decision: the case is drawn from stream 0.
    """

    def __init__(self, seed: int, index: int = 0, stream: int = 0) -> None:
        import numpy as np

        self._bits = np.random.PCG64([seed, index, stream] if stream else [seed, index])
        self._words: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """Scale a 64-bit word down to the range. The bias is negligible, because the ranges are small."""
        if not self._words:  # drawn in blocks: one call of numpy per choice took a third of the time of generation
            self._words = self._bits.random_raw(BLOCK).tolist()
        return low + (self._words.pop() * (high - low + 1) >> 64)
