"""Which tests of a seed a campaign takes: all of them, or its share of what several campaigns do together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class Share:
    """The tests from `first` on and below `end` whose numbers leave `part` when divided by `of`."""

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
    """K/N, as `fuzz run --share` takes it: K from 1 to N, as Slurm and people count; `Share.part` counts from 0. Raises
    `Invalid`."""
    part, slash, of = text.partition("/")
    if slash and part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of):
        return int(part) - 1, int(of)
    raise Invalid(f"--share {text}: K/N is meant, with K from 1 to N")


class Numbers:
    """Deals out the tests of a share, and knows up to where all are done. Not thread-safe.

    `next_test`: no test below it is taken; nor are those that are `done` above it.
    """

    def __init__(self, share: Share, next_test: int, done: Iterable[int] = ()) -> None:
        self._share = share
        self._next = self._open = share.at(next_test)
        self._done = set(done)
        self._ahead = frozenset(self._done)
        self.taken = 0

    def take(self) -> int | None:
        """None where the share is used up."""
        while self._next in self._ahead:
            self._next += self._share.of
        if self._share.end is not None and self._next >= self._share.end:
            return None
        self._next += self._share.of
        self.taken += 1
        return self._next - self._share.of

    def finish(self, number: int) -> int:
        """The first test that is not done: a killed campaign repeats what was under way."""
        self._done.add(number)
        while self._open in self._done:
            self._done.remove(self._open)
            self._open += self._share.of
        return self._open
