"""What fails in a set of outcomes, by lane: what an oracle objects to, and what a lane does not support."""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.judge import ORACLES
from oracles.lane import LaneSpec, is_tier_1
from oracles.outcome import Built, Facts, Outcome, Outcomes, Raised, Ran, Stage, Unsupported, facts_of

UNSUPPORTED = "Unsupported"
"""The type of the exception that stands for a lane which does not support a case any more."""


def failures_in(case: Case, outcomes: Outcomes) -> dict[LaneSpec, Finding]:
    """The first objection of an oracle to each lane, also to a lane that another reader of its file may excuse. A lane
    of tier 1 only has to import the case and to pass TVM's checker: its values are no compiled code's."""
    judged = {lane: _without_evaluation(outcome) if is_tier_1(lane) else outcome for lane, outcome in outcomes.items()}
    found: dict[LaneSpec, Finding] = {}
    for finding in _objections(case, judged):
        found.setdefault(finding.lane, finding)
    for lane, outcome in judged.items():
        if isinstance(outcome, Unsupported):
            raised = refusal(outcome)
            found[lane] = Finding(Kind.REJECTED, Component.TVM, lane, outcome.stage, raised)
    return found


def refusal(outcome: Unsupported) -> Raised:
    """The exception that stands for a lane which does not support a case any more."""
    return Raised(outcome.stage, UNSUPPORTED, outcome.reason)


def is_refusal(failure: Finding) -> bool:
    """Whether the failure is that of a lane which does not support a case."""
    return isinstance(failure.evidence, Raised) and failure.evidence.type == UNSUPPORTED


def _objections(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for oracle in ORACLES:
        yield from oracle(case, outcomes)


def _without_evaluation(outcome: Outcome) -> Outcome:
    facts = facts_of(outcome)
    evaluated = isinstance(outcome, Ran) or (facts is not None and getattr(outcome, "stage", None) is Stage.RUN)
    if not evaluated:
        return outcome
    return Built(Facts(checked=facts.checked, ill_formed=facts.ill_formed))
