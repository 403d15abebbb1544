"""Runs lanes for a campaign. Each run waits while the campaign is paused; none begins after the campaign was
stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.isolate.child_process import GaveUp
from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.triage.metered import MeteredLab
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class Stopping(Exception):
    """The campaign was stopped before a test was finished. The next run repeats the test."""


class PausableLab:
    """A lab of which each run waits while the pause switch is set. A run that the lab gives up was stopped."""

    def __init__(self, lab: Lab, switch: PauseSwitch, is_stopped: Callable[[], bool]) -> None:
        self._lab, self._switch, self._is_stopped = lab, switch, is_stopped

    @property
    def versions(self) -> dict[str, str]:
        return self._lab.versions

    @property
    def cpu_seconds(self) -> float:
        return self._lab.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        with self._under_way():
            return self._lab.run(case, lanes)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        with self._under_way():
            return self._lab.run_fresh(case, lanes)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        with self._under_way():
            return self._lab.examine(case, lane)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        with self._under_way():
            return self._lab.run_script(source, lane)

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """Like `admitted`; what was given up while it ran counts as stopped."""
        with self.admitted():
            try:
                yield
            except GaveUp:
                raise Stopping from None

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Wait while the campaign is paused. It does not pause inside. Raise `Stopping` where it was stopped."""
        with self._switch.run(self._is_stopped) as admitted:
            if not admitted:
                raise Stopping
            yield


class LabOfTriage(MeteredLab):
    """The same lab for triage: `count` is called with what each run gave and cost."""

    def __init__(self, lab: PausableLab, count: Callable[[Result], object]) -> None:
        super().__init__(lab, count)
        self.admitted = lab.admitted
