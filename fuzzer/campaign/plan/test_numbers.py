"""The tests that a campaign runs: all tests of its seed, or its share where several campaigns divide them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class Share:
    """The tests with first <= number < end and number % of == part."""

    part: int = 0
    of: int = 1
    first: int = 0
    end: int | None = None

    def at(self, number: int) -> int:
        """The first test of the share that is not below `number`."""
        begin = max(number, self.first)
        return begin + (self.part - begin) % self.of


ALL = Share()


def parsed(text: str) -> tuple[int, int]:
    """(part, of) of the text K/N, as `fuzz run --share` takes it. K counts from 1, as Slurm does; `part` counts from 0.
    Raise `Invalid` where the text is wrong."""
    part, slash, of = text.partition("/")
    if slash and part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of):
        return int(part) - 1, int(of)
    raise Invalid(f"--share {text}: K/N is meant, with K from 1 to N")


class Numbers:
    """Gives out the tests of a share, and finds the first that is not done. Not thread-safe.

    Tests below `next_test` are not given out, nor those in `done`.
    """

    def __init__(self, share: Share, next_test: int, done: Iterable[int] = ()) -> None:
        self._share = share
        self._next = self._open = share.at(next_test)
        self._done = set(done)
        self._ahead = frozenset(self._done)
        self.taken = 0

    def take(self) -> int | None:
        """The next test; None where there are no more in the share."""
        while self._next in self._ahead:
            self._next += self._share.of
        if self._share.end is not None and self._next >= self._share.end:
            return None
        self._next += self._share.of
        self.taken += 1
        return self._next - self._share.of

    def finish(self, number: int) -> int:
        """Mark a test as done; return the first that is not. A killed campaign continues there."""
        self._done.add(number)
        while self._open in self._done:
            self._done.remove(self._open)
            self._open += self._share.of
        return self._open
