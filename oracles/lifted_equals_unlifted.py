"""What can be computed from the parameters alone may be computed first: the model's results stay.

The lane keeps the protocol of LiftTransformParams: `main_transform_params` on the parameters, then the new main on what
that gives. The new main on the old parameters is a misuse, and nothing that anybody runs here.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Outcomes
from oracles.same_program import wrong_beside_sibling


def lifted_equals_unlifted(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    yield from wrong_beside_sibling(outcomes, lambda lane: lane.params.is_lifted and not lane.symbolic)
