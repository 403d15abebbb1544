"""A compiled model is a function: its second run on the same inputs gives the same numbers as the first."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding, Kind, component_of
from oracles.identical import difference
from oracles.outcome import Outcomes, Ran, Stage


def second_run(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for lane, outcome in outcomes.items():
        if not isinstance(outcome, Ran) or outcome.again is None:
            continue
        if found := difference(outcome.outputs, outcome.again, "the first run"):
            yield Finding(Kind.SECOND_RUN_DIFFERS, component_of(lane, Stage.RUN), lane, Stage.RUN, found[1])
