"""Applies the oracles to the result of a test."""

from __future__ import annotations

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes.base.availability import is_for_a_device
from fuzzer.triage.undisturbed import joined
from generators.graph import Case
from oracles.finding import Finding
from oracles.judge import judge_all
from oracles.outcome import Result


def judged(run_fresh: RunLanes, case: Case, result: Result) -> tuple[Result, list[Finding]]:
    """The result of a test, and its findings. A lane on a GPU that fails runs again in a fresh child, and then only the
    last run is judged: the first one may show a state that an earlier test left on the device. All runs are costs of
    the test."""
    findings = list(judge_all(case, result.outcomes))
    if failed := tuple(dict.fromkeys(finding.lane for finding in findings if is_for_a_device(finding.lane))):
        result = joined(result, run_fresh(case, failed))
        findings = list(judge_all(case, result.outcomes))
    return result, findings
