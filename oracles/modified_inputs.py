"""A compiled model does not change an input, unless PyTorch's run of the model changes the same input."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Finding, Kind, SideEffect, component_of
from oracles.lane import is_reference
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import eager_run


def modified_inputs(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    eager = eager_run(outcomes)
    for lane, out in outcomes.items():
        if eager is None or is_reference(lane) or not isinstance(out, Ran):
            continue
        if modified := tuple(name for name in out.facts.modified if name not in eager.facts.modified):
            evidence = SideEffect(modified=modified)
            yield Finding(Kind.MODIFIED_INPUT, component_of(lane, Stage.RUN), lane, Stage.RUN, evidence)
