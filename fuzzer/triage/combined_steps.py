"""Many small steps at once: one run in place of one for each step, for a case of one operator.

Most failures of one operator show with small float32 inputs of plain numbers. Where they do not, the reducers that
simplify try their steps one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.triage.proposals import smaller_proposals
from fuzzer.triage.reducers import CUTTING, REDUCERS, Reducer, Subject
from fuzzer.triage.reducers.lower_rank import lower_rank
from fuzzer.triage.reducers.plain_lane import plain_lane
from fuzzer.triage.reducers.plain_roles import plain_roles
from fuzzer.triage.reducers.plain_types import plain_types
from fuzzer.triage.reducers.plain_values import plain_values
from fuzzer.triage.reducers.plain_writing import plain_writing
from fuzzer.triage.reducers.shrink_dims import shrink_dims

_COMBINATIONS: tuple[tuple[Reducer, ...], ...] = (
    (plain_writing, plain_roles, plain_types, shrink_dims, lower_rank, plain_values, plain_lane),
    (plain_types, shrink_dims, lower_rank, plain_values, plain_lane),  # the way in which the call is written matters
    (plain_types, shrink_dims, lower_rank),  # the numbers or the lane matter
)
_MOST_STEPS = 4
"""How many steps of one reducer are combined."""


def combined_steps(subject: Subject) -> Iterator[Subject]:
    """Propose the first steps of all reducers together, then those of fewer."""
    if len(subject.graph.nodes) != 1:
        return
    for reducers in _COMBINATIONS:
        steps = list(_steps(subject, reducers))
        if len(steps) > 1:
            yield steps[-1]


def _steps(subject: Subject, reducers: Sequence[Reducer]) -> Iterator[Subject]:
    """Yield the subject after each step: the first proposal of a reducer, as long as it has one, then of the next."""
    for propose in reducers:
        for _ in range(_MOST_STEPS):
            smaller = next(smaller_proposals(propose, subject), None)
            if smaller is None:
                break
            subject = smaller
            yield subject


REDUCERS_OF_AN_INVESTIGATION: tuple[Reducer, ...] = (*CUTTING, combined_steps, *REDUCERS[len(CUTTING) :])
"""All reducers. Steps are combined as soon as the graph cannot be cut any more."""
