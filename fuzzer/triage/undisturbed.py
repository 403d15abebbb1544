"""Runs again what the machine disturbed: the disk or the memory was short, no process or file was left, a zygote ended.

Such a condition says nothing about a lane. What has no result for it is no evidence that a failure is gone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from fuzzer.isolate.fleet import RunLanes, RunScript
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system.environment import MachineLacks
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Result, Skipped, Stage

PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further attempt. A campaign pauses meanwhile where its disk is short."""


def lack_of(outcomes: Outcomes) -> str:
    """What the machine lacked for the first lane that has no result for that; "" where there is no such lane."""
    reasons = (each.reason for each in outcomes.values() if isinstance(each, Skipped) and each.environment)
    return next(reasons, "")


def undisturbed(run: RunLanes) -> RunLanes:
    """Return `run` with further attempts for the lanes that the machine disturbed. What it still lacks after the last
    attempt is in their outcomes."""

    def run_until_undisturbed(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = run(case, lanes)
        for seconds in PAUSES:
            lacking = [lane for lane, outcome in result.outcomes.items() if lack_of({lane: outcome})]
            if not lacking:
                break
            time.sleep(seconds)
            result = joined(result, run(case, lacking))
        return result

    return run_until_undisturbed


def undisturbed_script(run_script: RunScript) -> RunScript:
    """Return `run_script` with further attempts where the machine disturbs the script. After the last one, the script
    was not run."""

    def run_until_undisturbed(source: str, lane: LaneSpec) -> ScriptRun:
        for seconds in PAUSES:
            try:
                return run_script(source, lane)
            except MachineLacks:
                time.sleep(seconds)
        try:
            return run_script(source, lane)
        except MachineLacks as lack:
            return ScriptRun(None, str(lack))

    return run_until_undisturbed


def joined(first: Result, second: Result) -> Result:
    """The outcomes and the cost of two runs of a case. An outcome of the second replaces one of the first."""
    stages: dict[Stage, None] = dict.fromkeys((*first.stage_cpu, *second.stage_cpu))
    spent = {stage: first.stage_cpu.get(stage, 0.0) + second.stage_cpu.get(stage, 0.0) for stage in stages}
    return Result({**first.outcomes, **second.outcomes}, spent, first.cpu_seconds + second.cpu_seconds)
