"""Campaigns on an executor made by hand: no compiler runs. Tests of the loop and of triage in it share this."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import fakes

from fuzzer.campaign.plan.settings import LaneMix, RunLimits, Settings
from fuzzer.campaign.plan.test_numbers import ALL, Share
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun
from fuzzer.lanes import TVM_LANES
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

RIGHT = fakes.TWO_OUTPUTS
HONEST: Outcome = fakes.correct(RIGHT)


class FakeExecutor:
    """Honest lanes, but for what `sins` says of some tests' cases."""

    def __init__(self, sins: dict[str, Outcome] | None = None) -> None:
        self.sins = sins or {}
        self.versions = {"tvm": "0"}
        self.cpu_seconds = 0.0
        self.reports: tuple[SanitizerReport, ...] = ()
        self.script = ScriptRun(SHOWS)
        self.scripts: list[str] = []
        self.ran: list[tuple[str, tuple[LaneSpec, ...]]] = []
        self._lock = threading.Lock()

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        with self._lock:
            self.ran.append((case.origin, tuple(lanes)))
        outcomes: dict[LaneSpec, Outcome] = dict(fakes.references(*RIGHT))
        outcomes |= {lane: HONEST for lane in lanes if lane not in outcomes}
        if case.origin in self.sins:
            outcomes |= dict.fromkeys(first_of(lanes), self.sins[case.origin])
        return Result({lane: outcomes[lane] for lane in lanes})

    run_fresh = run

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.scripts.append(source)
        return self.script

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self.reports


class PaidExecutor(FakeExecutor):
    """Each run of a test takes one CPU second, each run of triage ten."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return replace(super().run(case, lanes), cpu_seconds=1.0)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return replace(super().run(case, lanes), cpu_seconds=10.0)


def first_of(lanes: Sequence[LaneSpec]) -> list[LaneSpec]:
    """TVM's first lane, as triage runs it too."""
    return [lane for lane in lanes if fakes.as_named(lane) == TVM_LANES[0]]


def refused(number: int) -> Outcome:
    # numbers are not part of a signature
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return fakes.raised(Stage.IMPORT, "ValueError", f"no layout for {words[number]}", fakes.REFUSAL)


def cases(count: int) -> Callable[[int], Case | None]:
    def case(index: int) -> Case | None:
        return Case(fakes.CASE.graph, fakes.CASE.tensors, origin=f"number {index}") if index < count else None

    return case


def settings(
    folder: Path,
    run: RunLimits = RunLimits(),
    *,
    in_turn: tuple[LaneSpec, ...] = (),
    workers: int = 1,
    share: Share = ALL,
) -> Settings:
    return Settings(folder, 1, LaneMix(TVM_LANES, in_turn), run, workers=workers, share=share)


WatchedTests = list[tuple[int, str, list[Kind]]]


def watch(watched: WatchedTests) -> Callable[[int, Case, Result, Sequence[Finding]], None]:
    return lambda index, case, result, found: watched.append((index, case.origin, [finding.kind for finding in found]))
