"""Applies the oracles to the result of a test."""

from __future__ import annotations

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes.base.availability import is_for_a_device
from fuzzer.triage.reproduce import joined
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Result
from oracles.slow import was_compiled

SLOW_RUNS = 3
"""Runs in which a lane must be slow: one measurement may be off on a busy machine."""


def judged(run_fresh: RunLanes, case: Case, result: Result) -> tuple[Result, list[Finding]]:
    """The result of a test, and its findings. Some lanes are run again in fresh children, and then only the last run is
    judged. All runs are costs of the test.

    A lane on a GPU that fails runs again: the first run may show a state that an earlier test left on the device. Where
    a lane was slow, all compiled lanes run again."""
    findings = list(judge_all(case, result.outcomes))
    if failed := tuple(dict.fromkeys(finding.lane for finding in findings if is_for_a_device(finding.lane))):
        result = joined(result, run_fresh(case, failed))
        findings = list(judge_all(case, result.outcomes))
    slow = _slow(findings)
    for _ in range(SLOW_RUNS - 1):
        if slow:
            result = joined(result, run_fresh(case, _compiled(result)))
            findings = list(judge_all(case, result.outcomes))
            slow &= _slow(findings)
    return result, [finding for finding in findings if finding.kind is not Kind.SLOW or finding.lane in slow]


def _slow(findings: list[Finding]) -> set[LaneSpec]:
    return {finding.lane for finding in findings if finding.kind is Kind.SLOW}


def _compiled(result: Result) -> tuple[LaneSpec, ...]:
    return tuple(lane for lane, outcome in result.outcomes.items() if was_compiled(outcome))
