"""What counts as wrong. Each oracle is one equation, a pure function (case, outcomes) -> findings."""

from collections.abc import Iterator

from generators.graph import Case
from oracles.against_torch import against_torch
from oracles.crash import crash
from oracles.finding import Finding, Oracle
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes
from oracles.second_run import second_run

ORACLES: tuple[Oracle, ...] = (crash, second_run, against_torch)
"""In this order: a lane whose second run differs computes nothing that could be compared."""


def judge_all(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """At most one finding per lane: the first oracle that objects to it has the word."""
    judged: set[LaneSpec] = set()
    for oracle in ORACLES:
        for finding in oracle(case, outcomes):
            if finding.lane not in judged:
                judged.add(finding.lane)
                yield finding


__all__ = ["ORACLES", "judge_all"]
