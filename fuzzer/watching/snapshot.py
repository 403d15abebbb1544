"""A running campaign at a snapshot: one value from which the screen, the files for scripts and the metrics are made."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.lanes.activity import CurrentTask
from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.campaign.store.state import State
from fuzzer.watching.causes import CauseCounts, causes_in
from fuzzer.watching.finding_summary import DAY, by_component, found_at, kinds_of
from fuzzer.watching.glance import Glance, glance
from fuzzer.watching.health import LaneHealth, lanes_health
from fuzzer.watching.held import Cached, Rates
from fuzzer.watching.resources import Resources, resources
from fuzzer.watching.titles import Titles
from generators.graph import Invalid
from oracles.finding import Component

HEALTH_SECONDS, RESOURCES_SECONDS = 10.0, 30.0
"""How long values are reused that take much CPU time to compute: 10 and 80 ms."""

CURVE_POINTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A running campaign at one moment. Times are Unix times in seconds. A count is that of the campaign over all its
    runs. These fields mean something else:

    seconds, run_*, new              this run: its time so far, its counts, the names of its new findings in TVM
    limits                           when this run ends
    phase                            what this run does now, and how far it is
    tvm                              the version of TVM in the host
    causes                           the causes of what was seen, those that are confirmed and the others
    errors                           tests that difftvm itself could not do
    triage_share, triage_used        the share of the CPU that triage gets now in this run, and what it has had in all
    drain                            how many seconds triage may go on after the last test of this run
    known                            tests that met a finding that was there, or known behaviour
    today                            findings of the last 24 hours
    aim                              what this run is aimed at, in words; empty where it has no aim
    curve                            rows of (seconds, tests, lane results, features, findings, CPU seconds)
    """

    folder: Path
    seed: int
    tvm: str
    pid: int
    now: float
    seconds: float
    limits: RunLimits
    phase: PhaseProgress
    run_tests: int
    run_lane_results: int
    run_findings: int
    new: frozenset[str]
    causes: Glance
    tests: int
    invalid: int
    errors: int
    next_test: int
    lane_results: int
    triage_lane_results: int
    cpu_seconds: float
    wall_seconds: float
    supervisor_share: float
    stage_cpu: Mapping[str, float]
    tests_per_second: float
    lane_results_per_second: float
    findings: Mapping[tuple[str, str], int]
    """By component and kind."""
    triage_share: float
    triage_used: float
    drain: float
    flaky: int
    today: int
    last: str
    last_found: float | None
    known: int
    features: int
    aim: str
    curve: Sequence[tuple[int, ...]]
    lanes: Sequence[LaneHealth]
    workers: int
    tasks: Sequence[CurrentTask]
    resources: Resources

    @property
    def waiting(self) -> int:
        """How many sightings in TVM wait for triage."""
        return self.causes.counts.waiting

    @property
    def triage_has_all(self) -> bool:
        """Whether all workers do triage, although tests go on: none ends meanwhile."""
        all_triage = len(self.tasks) == self.workers and all(task.is_triage for task in self.tasks)
        return self.phase.phase is Phase.FUZZING and all_triage

    @property
    def by_component(self) -> dict[str, int]:
        return by_component(self.findings)

    @property
    def all_findings(self) -> int:
        return sum(self.findings.values())


class Observer:
    """Takes snapshots of a campaign that runs in this process. Thread-safe."""

    def __init__(
        self,
        campaign: Campaign,
        clock: Callable[[], float] = time.time,
        measure: Callable[[Path, int], Resources] = resources,
    ) -> None:
        self._campaign, self._clock = campaign, clock
        store = campaign.store
        self._lock = threading.Lock()
        self._rates = Rates()
        self._features = Cached(HEALTH_SECONDS, lambda: store.ask(lambda index: index.features))
        self._curve = Cached(HEALTH_SECONDS, lambda: store.ask(lambda index: index.progress(CURVE_POINTS)))
        self._lanes = Cached(HEALTH_SECONDS, lambda: store.ask(lanes_health))
        self._last_causes = Glance(CauseCounts())
        self._titles = Titles()
        self._causes = Cached(HEALTH_SECONDS, self._read_causes, self._stamp)
        self._resources = Cached(RESOURCES_SECONDS, lambda: measure(store.folder, os.getpid()))
        self._aim = campaign.settings.aim
        self._cpu_before = time.process_time()
        self._rates.of(clock(), *self._counters())

    def _read_causes(self) -> Glance:
        """What the folder says; what it said last where it cannot be read now, which the campaign reports."""
        with suppress(Invalid, OSError):
            self._last_causes = glance(causes_in(self._campaign.store.folder), self._new(), self._titles)
        return self._last_causes

    def _stamp(self) -> tuple[int, int]:
        """What changes when a failure is seen, or confirmed."""
        triage = self._campaign.triage
        return len(triage.queue), len(triage.new)

    def _new(self) -> set[str]:
        return {doc.slug for doc in self._campaign.triage.new if doc.component is Component.TVM}

    def _counters(self) -> tuple[int, int]:
        counters = self._campaign.store.state.counters
        return counters.tests, counters.lane_results + counters.triage_lane_results

    def snapshot(self) -> Snapshot:
        with self._lock:
            return self._snapshot(self._campaign.store.state)

    def committed(self) -> Snapshot:
        """The snapshot with the counts of the last commit. Later counts are lost when the campaign is killed."""
        store = self._campaign.store
        with self._lock:
            return self._snapshot(store.ask(lambda index: index.state()) or State(store.state.seed))

    def _snapshot(self, state: State) -> Snapshot:
        campaign, store, now = self._campaign, self._campaign.store, self._clock()
        run, over = campaign.progress.counts, campaign.progress.over
        counters, docs = state.counters, list(store.findings.values())
        tests_rate, results_rate = self._rates.of(now, *self._counters())
        found = found_at(docs)
        last = max(found, key=found.__getitem__, default="")
        seconds = campaign.progress.seconds
        return Snapshot(
            folder=store.folder,
            seed=state.seed,
            tvm=campaign.tvm,
            pid=os.getpid(),
            now=now,
            seconds=seconds,
            limits=campaign.settings.run,
            phase=campaign.phase,
            run_tests=run.tests,
            run_lane_results=run.lane_results,
            run_findings=len(campaign.triage.new),
            new=frozenset(self._new()),
            causes=self._causes.value(now, over),
            tests=counters.tests,
            invalid=counters.invalid,
            errors=counters.errors,
            next_test=state.next_test,
            lane_results=counters.lane_results,
            triage_lane_results=counters.triage_lane_results,
            cpu_seconds=counters.cpu_seconds,
            wall_seconds=counters.wall_seconds,
            supervisor_share=(time.process_time() - self._cpu_before) / max(seconds, 1e-9),
            stage_cpu=dict(counters.stage_cpu),
            tests_per_second=tests_rate,
            lane_results_per_second=results_rate,
            findings=kinds_of(docs),
            triage_share=campaign.share.now,
            triage_used=counters.triage_used,
            drain=campaign.settings.triage.drain,
            flaky=sum(doc.flaky for doc in docs),
            today=sum(at > now - DAY for at in found.values()),
            last=last,
            last_found=found.get(last),
            known=sum(count - 1 for count in list(state.found.values())) + sum(list(state.known.values())),
            features=self._features.value(now, over),
            aim=self._aim.line(campaign.guidance.covered_rows),
            curve=self._curve.value(now, over),
            lanes=self._lanes.value(now, over),
            workers=campaign.settings.workers,
            tasks=campaign.activity.now,
            resources=self._resources.value(now, over),
        )
