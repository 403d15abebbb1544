"""Computing the parts that depend on parameters alone before the model does not change the model's results.

The lane follows the protocol of LiftTransformParams: it calls `main_transform_params` with the parameters, then the new
main with the results. To call the new main with the old parameters would be a misuse; no lane does this.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Outcomes
from oracles.same_program import wrong_where_sibling_is_right


def lifted_equals_unlifted(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    yield from wrong_where_sibling_is_right(outcomes, lambda lane: lane.params.is_lifted and not lane.symbolic)
