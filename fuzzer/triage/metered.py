"""Adds up the CPU seconds that runs of lanes cost."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class Metered:
    """A `Run` that adds up its cost. Several threads may call it at the same time."""

    def __init__(self, run: RunLanes) -> None:
        self._run, self._lock, self.cpu_seconds = run, threading.Lock(), 0.0

    def __call__(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = self._run(case, lanes)
        with self._lock:
            self.cpu_seconds += result.cpu_seconds
        return result
