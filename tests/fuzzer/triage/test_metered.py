"""CPU seconds belong to the step that asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from graphs_by_hand import case_of

from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.triage.metered import MeteredLab, Step
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result

CASE = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")


class PaidLab:
    """Each run costs one second, a fresh one two, a script four."""

    versions: ClassVar = {"tvm": "0.27.0"}
    cpu_seconds = 0.0

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return Result({}, cpu_seconds=1.0)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return Result({}, cpu_seconds=2.0)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(1, cpu_seconds=4.0)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return ()


def test_what_each_step_cost_is_added_up() -> None:
    lab = MeteredLab(PaidLab())
    lab.run(CASE, ())
    with lab.during(Step.REDUCE):
        lab.run(CASE, ())
        lab.run_fresh(CASE, ())
    with suppress(KeyError), lab.during(Step.NAME):
        lab.run(CASE, ())
        raise KeyError
    with lab.during(Step.BLAME):
        pass
    with lab.during(Step.REDUCE):
        lab.run(CASE, ())
    assert (lab.by_step, lab.cpu_seconds) == ({Step.REDUCE: 4.0, Step.NAME: 1.0}, 6.0)
