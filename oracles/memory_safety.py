"""A compiled model reads only values that were written, and writes only its own tensors."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding, Kind, component_of
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import eager_run


def memory_safety(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    if eager_run(outcomes) is None:
        return
    for lane, outcome in outcomes.items():
        if isinstance(outcome, Ran) and outcome.facts.accesses:
            worst = min(outcome.facts.accesses, key=lambda access: list(Access).index(access.access))
            yield Finding(_kind(worst), component_of(lane, Stage.RUN), lane, Stage.RUN, worst)


def _kind(access: MemoryAccess) -> Kind:
    if access.access is Access.WRITE:
        return Kind.OUT_OF_BOUNDS_WRITE
    return Kind.UNINITIALISED_READ if access.side is Side.INSIDE else Kind.OUT_OF_BOUNDS_READ
