"""TVM's own checker of well-formedness accepts every module that TVM makes: after the import and after each pass."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine
from oracles.outcome import Outcomes, Stage, facts_of

IMPORT = "import"


def well_formed(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """Judge lanes that failed later too: a module that the checker refuses explains why the build fails."""
    for lane, outcome in outcomes.items():
        broken = facts_of(outcome).ill_formed
        if broken is not None and lane.engine is Engine.TVM:
            stage = Stage.IMPORT if broken.after == IMPORT else Stage.TRANSFORM
            yield Finding(Kind.ILL_FORMED, Component.TVM, lane, stage, broken)
