"""A lab that says how many runs have ended, for commands and functions that take long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


@dataclass
class CountingLab:
    """Calls `show` with the number of runs of lanes that have ended, after each of them."""

    lab: Lab
    show: Callable[[int], object]
    runs: int = 0

    @property
    def versions(self) -> dict[str, str]:
        return self.lab.versions

    @property
    def cpu_seconds(self) -> float:
        return self.lab.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self.lab.run(case, lanes))

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self.lab.run_fresh(case, lanes))

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self.lab.run_script(source, lane)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self.lab.examine(case, lane)

    def _counted(self, result: Result) -> Result:
        self.runs += 1
        self.show(self.runs)
        return result
