"""Whether lanes do as they did: one that suddenly gives no results tests nothing, however busy it looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

import msgspec

from fuzzer.campaign.index import Index

TESTS = 1000
"""Of the newest so many."""

RECENT = 40
"""Outcomes of each lane that are compared with those before."""

FEWEST_BEFORE = 40

SIGMAS = 4.0
"""How far below what is to be expected the newest outcomes lie before somebody is told: with a hundred lanes looked at
every ten seconds, chance alone must not ring."""


class LaneHealth(msgspec.Struct, frozen=True):
    """`recent` counts how the lane's newest outcomes came out, `earlier` those before."""

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
        """The share of outcomes that were results; None where there are too few to tell."""
        total = sum(self.earlier.values())
        return results_of(self.earlier) / total if total >= FEWEST_BEFORE else None

    @property
    def fails(self) -> bool:
        """Whether it suddenly gives far fewer results than it did."""
        n, share = self.outcomes, self.before
        if share is None or n < RECENT:
            return False
        expected, deviation = n * share, sqrt(n * share * (1 - share))
        return self.results < expected - SIGMAS * deviation and self.results < expected / 2


def results_of(counted: Mapping[str, int]) -> int:
    return counted.get("ran", 0) + counted.get("built", 0)


def lanes_health(index: Index) -> tuple[LaneHealth, ...]:
    """Those that fail first, then those that run most."""
    found = [LaneHealth(lane, *counts) for lane, counts in index.history(TESTS, RECENT).items()]
    return tuple(sorted(found, key=_order))


def _order(lane: LaneHealth) -> tuple[bool, int, str]:
    return not lane.fails, -sum(lane.recent.values()) - sum(lane.earlier.values()), lane.lane


def failing(lanes: Iterable[LaneHealth]) -> list[str]:
    return [lane.lane for lane in lanes if lane.fails]
