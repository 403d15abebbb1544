"""A lab in which a lane with the user's pass fails only where the lane without the pass is right.

A lane that fails with the pass also runs without it, with the references that judge its values. Where both fail, TVM or
the importer is at fault, and not the pass: the outcome is replaced by `Skipped`, which no oracle judges, as those of
other lanes that fail. onnxruntime does not run, because no lane with a pass reads an ONNX file. So tests, reduction and
blame look for what the pass does wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzer.difference.failures import failures_in
from fuzzer.isolate.fleet import Lab, RunLanes
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.lanes import needed, plain_sibling
from fuzzer.triage.undisturbed import joined
from generators.graph import Case
from oracles.finding import is_other_reader, runs_exported_program
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran, Result, Skipped
from oracles.transforms import is_own

WITHOUT_PASS = Skipped("it fails without the pass too, or runs no pass of the user")


class PassLab:
    """Several threads may call it at the same time."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    @property
    def versions(self) -> dict[str, str]:
        return self._lab.versions

    @property
    def cpu_seconds(self) -> float:
        return self._lab.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return _judged(self._lab.run, case, lanes)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return _judged(self._lab.run_fresh, case, lanes)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self._lab.examine(case, lane)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self._lab.run_script(source, lane)


def has_own_pass(lane: LaneSpec) -> bool:
    """Whether the lane runs a pass of the user."""
    return any(map(is_own, lane.passes))


def _judged(run: RunLanes, case: Case, lanes: Sequence[LaneSpec]) -> Result:
    """Run the lanes, and those that fail with the pass also without it, where these are not among the lanes."""
    result = run(case, [lane for lane in lanes if not is_other_reader(lane)])
    failing = failures_in(case, result.outcomes)
    plain = {lane: _without_pass(lane) for lane in failing if has_own_pass(lane)}
    wanted = dict.fromkeys(each for lane in plain.values() for each in (*needed(lane), lane))
    more = [lane for lane in wanted if lane not in result.outcomes and not runs_exported_program(lane)]
    both = joined(result, run(case, more)) if more else result
    failing = failures_in(case, both.outcomes)
    right = {
        lane
        for lane in dict.fromkeys(plain.values())
        if lane not in failing and isinstance(both.outcomes[lane], Ran | Built)
    }
    shown = {lane for lane, other in plain.items() if other in right}
    outcomes = {
        lane: WITHOUT_PASS if is_other_reader(lane) or (lane in failing and lane not in shown) else both.outcomes[lane]
        for lane in lanes
    }
    return replace(both, outcomes=outcomes)


def _without_pass(lane: LaneSpec) -> LaneSpec:
    """The plain sibling of a lane. It runs to its end: a failure after the stage where the lane ends counts too."""
    found = plain_sibling(lane)
    assert found is not None, f"{lane} has no plain sibling"
    return found
