"""Many small steps at once: one run in place of one for each step, for a case of one operator.

Most failures of one operator show with small float32 inputs of plain numbers. Where they do not, the passes that
simplify try their steps one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.triage.passes import CUTTING, PASSES, Pass, Subject
from fuzzer.triage.passes.lower_rank import lower_rank
from fuzzer.triage.passes.plain_lane import plain_lane
from fuzzer.triage.passes.plain_roles import plain_roles
from fuzzer.triage.passes.plain_types import plain_types
from fuzzer.triage.passes.plain_values import plain_values
from fuzzer.triage.passes.plain_writing import plain_writing
from fuzzer.triage.passes.shrink_dims import shrink_dims
from fuzzer.triage.proposals import smaller_proposals

_COMBINATIONS: tuple[tuple[Pass, ...], ...] = (
    (plain_writing, plain_roles, plain_types, shrink_dims, lower_rank, plain_values, plain_lane),
    (plain_types, shrink_dims, lower_rank, plain_values, plain_lane),  # the way in which the call is written matters
    (plain_types, shrink_dims, lower_rank),  # the numbers or the lane matter
)
_MOST_STEPS = 4
"""How many steps of one pass are combined."""


def combined_steps(subject: Subject) -> Iterator[Subject]:
    """Propose the first steps of all passes together, then those of fewer passes."""
    if len(subject.graph.nodes) != 1:
        return
    for passes in _COMBINATIONS:
        steps = list(_steps(subject, passes))
        if len(steps) > 1:
            yield steps[-1]


def _steps(subject: Subject, passes: Sequence[Pass]) -> Iterator[Subject]:
    """Yield the subject after each step: the first proposal of a pass, as long as it has one, then of the next pass."""
    for propose in passes:
        for _ in range(_MOST_STEPS):
            smaller = next(smaller_proposals(propose, subject), None)
            if smaller is None:
                break
            subject = smaller
            yield subject


PASSES_OF_AN_INVESTIGATION: tuple[Pass, ...] = (*CUTTING, combined_steps, *PASSES[len(CUTTING) :])
"""All passes. Steps are combined as soon as the graph cannot be cut any more."""
