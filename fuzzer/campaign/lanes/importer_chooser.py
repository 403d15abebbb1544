"""Chooses the cases that an expensive importer reads: those that are newest to it, and about as many as it pays for.

An importer whose export costs more than all others together cannot read every case. Its novelty of a case is the sum of
weight / (1 + count)^2 over its features; `count` is how many cases with the feature it has read. A feature is the
importer with an operator and its dtype (weight 1), or with another feature of the case (`OTHER_WEIGHT`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from fuzzer.campaign.lanes.lane_records import FLOOR, LaneRecord
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.store.features import of_case
from generators.graph import Case
from oracles.importers import EXPENSIVE, Importer

MOST = 3.0
"""An importer that shows more new failures per CPU second reads at most this many times its usual percentage."""

WEIGHT = 5.0
"""For how many CPU seconds it counts that an importer is expected to show as much as the cheap ones."""

GAIN = 0.2
"""How fast the threshold follows: each case that is read makes it higher by this part."""

OTHER_WEIGHT = 0.3

PREFIX = "imported "
"""What the names of the features begin with."""


def features(importer: Importer, case: Case) -> dict[str, float]:
    """What the importer reads in a case: the names of the features, with their weights."""
    found: dict[str, float] = {}
    for name in of_case(case.graph):
        kind, *rest = name.split(" ")
        if kind == "op":
            op, dtype, _ = rest
            found[f"{PREFIX}{importer} {op} {dtype}"] = 1.0
        else:
            found[f"{PREFIX}{importer} {name}"] = OTHER_WEIGHT
    return found


def rate_of(importer: Importer, own: LaneRecord, cheap: LaneRecord) -> float:
    """The part of the cases that the importer should read. It grows with its new failures per CPU second, compared with
    those of the cheap importers."""
    usual = cheap.failures_per_second
    shown = (own.found + usual * WEIGHT) / (own.seconds + WEIGHT)
    return max(1 / FLOOR, EXPENSIVE[importer] / 100 * min(MOST, shown / usual))


@dataclass(slots=True)
class NewestCases:
    """Takes the newest of the cases that it meets: those whose novelty is above a threshold. The threshold rises with
    each case that is taken, and falls with each other one, so that about `rate` of them are taken. After `FLOOR` cases
    of which none was new enough, the next one is taken."""

    threshold: float | None = None
    waited: int = 0

    def takes(self, novelty: float, rate: float) -> bool:
        """Whether the next case is taken. `novelty` is above 0, `rate` between 1 / `FLOOR` and 1."""
        before = novelty if self.threshold is None else self.threshold
        taken = novelty > before or self.waited >= FLOOR - 1
        self.threshold = before * math.exp(GAIN * (taken - rate))
        self.waited = 0 if taken else self.waited + 1
        return taken


@dataclass(slots=True)
class ImporterChooser:
    """Which cases the expensive importers have read, counted in `counts`. It is not thread-safe."""

    counts: Counts
    _newest: dict[Importer, NewestCases] = field(default_factory=lambda: {each: NewestCases() for each in EXPENSIVE})

    def read(self, importer: Importer, case: Case, rate: float) -> tuple[str, ...]:
        """Decide whether the importer reads the case. Return the features that it reads, which count from now on; an
        empty tuple where it does not read the case."""
        weights = features(importer, case)
        novelty = sum(weight / (1 + self.counts[name]) ** 2 for name, weight in weights.items())
        if not self._newest[importer].takes(novelty, rate):
            return ()
        for name in weights:
            self.counts.add(name)
        return tuple(weights)
