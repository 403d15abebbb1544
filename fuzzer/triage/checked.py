"""A failure without TVM's checks of arguments, where such a check says what is wrong.

Most lanes leave these checks out, because compiling them takes most of LLVM's time for a small case
(`LaneSpec.asserts`). A kernel then goes on with an argument of a wrong rank or size. What it reads and writes is
undefined: the process dies in some runs, and other memory changes in others.
"""

from __future__ import annotations

from dataclasses import replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.triage.investigate import Sighting, shown_by
from fuzzer.triage.reducers.plain_lane import with_known_name
from generators.graph import Case
from oracles.finding import Kind
from oracles.lane import Engine
from oracles.outcome import Stage

UNDEFINED = frozenset(
    {Kind.DIED, Kind.OUT_OF_BOUNDS_READ, Kind.OUT_OF_BOUNDS_WRITE, Kind.UNINITIALISED_READ, Kind.SECOND_RUN_DIFFERS}
)
"""Kinds that a wrong argument may lead to."""


def with_checks(run: RunLanes, case: Case, sighting: Sighting) -> Sighting:
    """Return the failed check of the same case on the same lane with checks, if there is one; else the sighting."""
    finding = sighting.finding
    if finding.lane.engine is not Engine.TVM or finding.lane.asserts or finding.kind not in UNDEFINED:
        return sighting
    lane = with_known_name(replace(finding.lane, asserts=True))
    _, shown = shown_by(run, case, (lane,))
    checks = (each for each in shown if each.finding.kind is Kind.INTERNAL_ERROR and each.finding.stage is Stage.RUN)
    return next(checks, sighting)
