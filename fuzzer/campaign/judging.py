"""Applies the oracles to the result of a test."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.lanes.base.availability import is_for_a_device
from fuzzer.triage.reproduce import RunLanes, joined
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Result, facts_of


def judged(run_fresh: RunLanes, case: Case, result: Result) -> tuple[Result, list[Finding]]:
    """The result of a test, and its findings. Some lanes are run again in fresh children, and then only that run is
    judged. All runs are costs of the test."""
    findings = list(judge_all(case, result.outcomes))
    to_repeat = tuple(dict.fromkeys(_to_repeat(findings, result)))
    if not to_repeat:
        return result, findings
    result = joined(result, run_fresh(case, to_repeat))
    return result, list(judge_all(case, result.outcomes))


def _to_repeat(findings: list[Finding], result: Result) -> Iterator[LaneSpec]:
    """A lane on a GPU that fails: the first run may show a state that an earlier test left on the device. All lanes
    that were compiled, where one was slow: one measurement may be off on a busy machine."""
    yield from (finding.lane for finding in findings if is_for_a_device(finding.lane))
    if any(finding.kind is Kind.SLOW for finding in findings):
        yield from (lane for lane, outcome in result.outcomes.items() if facts_of(outcome).compile_seconds > 0)
