"""Measure the CPU seconds of runs of lanes and scripts, and of the steps of triage that ask for them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class Step(StrEnum):
    """What triage does with a sighting, in this order."""

    SUSPECT = "suspect"  # one run that names the operator of a new sighting
    CHECK = "check"  # a run with TVM's checks of arguments
    EXPLAIN = "explain"  # runs that show whether a known finding accounts for it
    CONFIRM = "confirm"
    REDUCE = "reduce"
    NAME = "name"  # which lanes show it
    BLAME = "blame"
    RELEASES = "releases"  # which other releases of TVM show it
    SCRIPT = "script"
    SCOPE = "scope"  # its scope, a natural case and a regression test


CostBySteps = Mapping[Step, float]
"""CPU seconds of the children, by step."""


class MeteredLab:
    """A lab that counts its runs of a case, adds up the CPU seconds of all that it runs, and calls `count` with what
    each gave. A script, or a run under compute-sanitizer, has no outcomes. `begins` is called when a step begins; by
    default, that of the lab is. Several threads may call it at the same time."""

    def __init__(
        self,
        lab: Lab,
        count: Callable[[Result], object] = lambda result: None,
        begins: Callable[[Step], object] | None = None,
    ) -> None:
        self._lab, self._count = lab, count
        self.begins: Callable[[Step], object] = begins or (
            lab.begins if isinstance(lab, MeteredLab) else lambda step: None
        )
        self._lock, self.cpu_seconds, self.runs = threading.Lock(), 0.0, 0
        self.by_step: Counter[Step] = Counter()

    @contextmanager
    def during(self, step: Step) -> Iterator[None]:
        """What runs inside belongs to the step. One thread at a time may be inside, and steps do not nest."""
        before = self.cpu_seconds
        self.begins(step)
        try:
            yield
        finally:
            if spent := self.cpu_seconds - before:
                self.by_step[step] += spent  # type: ignore[assignment]

    @property
    def versions(self) -> dict[str, str]:
        return self._lab.versions

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._metered(self._lab.run(case, lanes), runs=1)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._metered(self._lab.run_fresh(case, lanes), runs=1)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        done = self._lab.run_script(source, lane)
        self._metered(Result({}, cpu_seconds=done.cpu_seconds))
        return done

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        reports = self._lab.examine(case, lane)
        self._metered(Result({}, cpu_seconds=sum(report.cpu_seconds for report in reports)))
        return reports

    def _metered(self, result: Result, runs: int = 0) -> Result:
        with self._lock:
            self.runs += runs
            self.cpu_seconds += result.cpu_seconds
        self._count(result)
        return result
