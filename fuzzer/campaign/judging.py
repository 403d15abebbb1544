"""Applies the oracles to the result of a test."""

from __future__ import annotations

from fuzzer.lanes.base.availability import is_for_a_device
from fuzzer.triage.reproduce import RunLanes, joined
from generators.graph import Case
from oracles.finding import Finding
from oracles.judge import judge_all
from oracles.outcome import Result


def judged(run_fresh: RunLanes, case: Case, result: Result) -> tuple[Result, list[Finding]]:
    """The result of a test, and its findings. A lane on a GPU that fails is run again in a fresh worker, and only that
    run is judged: the first run may show a state that an earlier test left on the device. Both runs are costs of the
    test."""
    findings = list(judge_all(case, result.outcomes))
    to_repeat = [lane for lane in dict.fromkeys(f.lane for f in findings) if is_for_a_device(lane)]
    if not to_repeat:
        return result, findings
    result = joined(result, run_fresh(case, to_repeat))
    return result, list(judge_all(case, result.outcomes))
