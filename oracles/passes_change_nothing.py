"""A pass, a pipeline or an option may make a program faster or smaller; it does not change the results."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes
from oracles.same_program import wrong_where_sibling_is_right
from oracles.siblings import changes_program


def passes_change_nothing(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    yield from wrong_where_sibling_is_right(outcomes, _optimises)


def _optimises(lane: LaneSpec) -> bool:
    return changes_program(lane) and not lane.params.is_lifted and not lane.symbolic
