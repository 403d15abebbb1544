"""Measure the CPU seconds of runs of lanes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from fuzzer.isolate.fleet import Runner
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
        with self._lock:
            self.cpu_seconds += result.cpu_seconds
        return result
