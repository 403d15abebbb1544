"""What the oracles find in the result of a test."""

from __future__ import annotations

from fuzzer.lanes.base.availability import is_for_a_device
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case
from oracles import judge_all
from oracles.finding import Finding
from oracles.outcome import Result


def judged(run_fresh: RunLanes, case: Case, result: Result) -> list[Finding]:
    """Lanes for devices that fail are run again in a fresh worker, and judged by that run alone: the first run may show
    what an earlier test left on the device."""
    findings = list(judge_all(case, result.outcomes))
    doubted = [lane for lane in dict.fromkeys(f.lane for f in findings) if is_for_a_device(lane)]
    if not doubted:
        return findings
    return list(judge_all(case, {**result.outcomes, **run_fresh(case, doubted).outcomes}))
