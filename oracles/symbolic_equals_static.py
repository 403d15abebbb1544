"""A module compiled for all sizes, run at size n, gives the results of the module compiled for n."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Outcomes
from oracles.same_program import wrong_beside_sibling


def symbolic_equals_static(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    yield from wrong_beside_sibling(outcomes, lambda lane: lane.symbolic)
