"""TVM's own checker is content with every module that TVM makes: after the import, and after each pass."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine
from oracles.outcome import Outcomes, Stage, facts_of

IMPORT = "import"


def well_formed(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """Whatever became of the lane afterwards: a module that its checker refuses explains a build that fails."""
    for lane, outcome in outcomes.items():
        broken = facts_of(outcome).ill_formed
        if broken is not None and lane.engine is Engine.TVM:
            stage = Stage.IMPORT if broken.after == IMPORT else Stage.TRANSFORM
            yield Finding(Kind.ILL_FORMED, Component.TVM, lane, stage, broken)
