"""A lane takes about as long as the others to compile the case. CPU time is measured: a busy machine does not count."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from generators.graph import Case
from oracles.finding import OTHER_LANES, Component, Excess, Finding, Kind, Quantity
from oracles.lane import Engine
from oracles.outcome import Outcomes, Stage, facts_of

TIMES_OTHERS = 10.0
SECONDS = 5.0


def slow(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """A lane is not judged where no other lane compiled the case: some models take long to compile."""
    spent = {lane: facts_of(out).compile_seconds for lane, out in outcomes.items() if lane.engine is Engine.TVM}
    for lane, seconds in spent.items():
        others = [value for other, value in spent.items() if other != lane and value > 0]
        allowed = max(SECONDS, TIMES_OTHERS * median(others)) if others else 0.0
        if others and seconds > allowed:
            excess = Excess(Quantity.TIME, round(seconds, 2), round(allowed, 2), OTHER_LANES)
            yield Finding(Kind.SLOW, Component.TVM, lane, Stage.COMPILE, excess)
