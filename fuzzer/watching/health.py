"""The health of lanes: whether a lane suddenly gives far fewer results than before. Such a lane tests nothing, although
it still runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

import msgspec

from fuzzer.campaign.store.index import Index

TESTS = 1000
"""The number of newest tests whose outcomes count."""

RECENT = 40
"""The number of newest outcomes of each lane, which are compared with its earlier ones."""

FEWEST_BEFORE = 40

SIGMAS = 4.0
"""The number of standard deviations by which results must fall below the expectation before a lane counts as failing.
It is high because a hundred lanes are checked every ten seconds, and chance alone must not trigger it."""


class LaneHealth(msgspec.Struct, frozen=True):
    """By the way an outcome ended, `recent` counts the newest outcomes of a lane, and `earlier` those before."""

    lane: str
    recent: Mapping[str, int]
    earlier: Mapping[str, int]

    @property
    def outcomes(self) -> int:
        return sum(self.recent.values())

    @property
    def results(self) -> int:
        return results_of(self.recent)

    @property
    def before(self) -> float | None:
        """The share of earlier outcomes that were results; None where there are fewer than `FEWEST_BEFORE`."""
        total = sum(self.earlier.values())
        return results_of(self.earlier) / total if total >= FEWEST_BEFORE else None

    @property
    def fails(self) -> bool:
        """Whether the lane suddenly gives far fewer results than before: less than half of the expectation, and
        `SIGMAS` standard deviations below it (binomial)."""
        n, share = self.outcomes, self.before
        if share is None or n < RECENT:
            return False
        expected, deviation = n * share, sqrt(n * share * (1 - share))
        return self.results < expected - SIGMAS * deviation and self.results < expected / 2


def results_of(counted: Mapping[str, int]) -> int:
    return counted.get("ran", 0) + counted.get("built", 0)


def lanes_health(index: Index) -> tuple[LaneHealth, ...]:
    """The health of each lane: failing lanes first, then those with the most outcomes."""
    found = [LaneHealth(lane, *counts) for lane, counts in index.history(TESTS, RECENT).items()]
    return tuple(sorted(found, key=_order))


def _order(lane: LaneHealth) -> tuple[bool, int, str]:
    return not lane.fails, -sum(lane.recent.values()) - sum(lane.earlier.values()), lane.lane


def failing(lanes: Iterable[LaneHealth]) -> list[str]:
    return [lane.lane for lane in lanes if lane.fails]
