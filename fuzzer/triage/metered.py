"""Measure the CPU seconds of runs of lanes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class Metered:
    """A `RunLanes` that adds up the CPU seconds of its runs. Several threads may call it at the same time."""

    def __init__(self, run: RunLanes) -> None:
        self._run, self._lock, self.cpu_seconds = run, threading.Lock(), 0.0

    def __call__(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = self._run(case, lanes)
        with self._lock:
            self.cpu_seconds += result.cpu_seconds
        return result
