"""Whether a case near the reduced one shows the failure of a finding."""

from __future__ import annotations

from collections.abc import Callable

from fuzzer.isolate.fleet import Runner
from fuzzer.signature import Signature, interchangeable_kinds, signature_of
from fuzzer.triage.investigate import may_run_in_used_children
from fuzzer.triage.reproduce import observe, up_to_failure
from fuzzer.triage.scope.statement import Answer
from generators.graph import Case
from oracles.finding import Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Skipped, Unsupported


def asker(runner: Runner, finding: Finding) -> Callable[[Case], Answer]:
    """Return a function that runs a case as the finding's lane does, up to the failure."""
    return lambda case: answer_of(runner, finding, case, finding.lane)


def answer_of(runner: Runner, finding: Finding, case: Case, lane: LaneSpec) -> Answer:
    """Return what a lane does with a case. Failures that depend on earlier work in a process run in fresh children."""
    signature = signature_of(finding)
    run = up_to_failure(runner.run if may_run_in_used_children(finding) else runner.run_fresh, signature)
    observation = observe(run, case, lane, signature)
    if not observation.valid:
        return Answer.INVALID
    if any(shows(signature, signature_of(each)) or _hides(finding, each) for each in observation.findings):
        return Answer.FAILS
    if observation.lack or isinstance(observation.result.outcomes.get(lane), Unsupported | Skipped | Broken):
        return Answer.REFUSED
    return Answer.OTHER if observation.findings else Answer.PASSES


def _hides(finding: Finding, worse: Finding) -> bool:
    """Whether the output of another case has the wrong dtype of a finding, and wrong values besides."""
    also = isinstance(worse.evidence, Mismatch) and bool(worse.evidence.also)
    return finding.kind is Kind.WRONG_DTYPE and also and finding.component is worse.component


def shows(signature: Signature, other: Signature) -> bool:
    """Whether a failure of another case is this one. A message may name what was varied, as a dtype: then the same
    type of exception at the same place is enough."""
    if signature.same_failure(other):
        return True
    if interchangeable_kinds(signature.kind, other.kind):
        return False
    mine, theirs = ((each.kind, each.component, each.error, each.frame) for each in (signature, other))
    return bool(signature.error and signature.frame) and mine == theirs
