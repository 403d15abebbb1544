"""Measure the CPU seconds of runs of lanes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from fuzzer.isolate.fleet import Investigator, Runner
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class Metered:
    """A runner that adds up the CPU seconds of its runs. Several threads may call it at the same time."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._lock, self.cpu_seconds = runner, threading.Lock(), 0.0

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self._runner.run(case, lanes))

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._counted(self._runner.run_fresh(case, lanes))

    def _counted(self, result: Result) -> Result:
        self._add(result.cpu_seconds)
        return result

    def _add(self, cpu_seconds: float) -> None:
        with self._lock:
            self.cpu_seconds += cpu_seconds


class MeteredLab(Metered):
    """An investigator of which also the scripts and the runs under compute-sanitizer are added up."""

    def __init__(self, lab: Investigator) -> None:
        super().__init__(lab)
        self._lab = lab

    @property
    def versions(self) -> dict[str, str]:
        return self._lab.versions

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        done = self._lab.run_script(source, lane)
        self._add(done.cpu_seconds)
        return done

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        reports = self._lab.examine(case, lane)
        self._add(sum(report.cpu_seconds for report in reports))
        return reports
