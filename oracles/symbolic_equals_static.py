"""A module compiled for all sizes, run at size n, gives the results of the module compiled for n."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Outcomes
from oracles.same_program import wrong_where_sibling_is_right


def symbolic_equals_static(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    yield from wrong_where_sibling_is_right(outcomes, lambda lane: lane.symbolic)
