"""A module that the checker of well-formedness accepts also builds, and gives the same result.

The lane changes one thing in each of several valid modules. A changed module that the checker refuses is no finding.
One that gives the right result is none either: the change did not matter. Any other one is a gap in the checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine
from oracles.outcome import MutantFate, Outcomes, Stage, facts_of


def checker_gap(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for lane, outcome in outcomes.items():
        for mutant in facts_of(outcome).mutants:
            if lane.engine is Engine.TVM and is_gap(mutant.fate):
                yield Finding(Kind.CHECKER_GAP, Component.TVM, lane, Stage.COMPILE, mutant)


def is_gap(fate: MutantFate) -> bool:
    """Whether the checker accepted the broken module although it does not build or gives another result."""
    match fate:
        case MutantFate.RAISED | MutantFate.DIED | MutantFate.MISCOMPILED:
            return True
        case MutantFate.REFUSED | MutantFate.HARMLESS:
            return False
        case _:
            assert_never(fate)
