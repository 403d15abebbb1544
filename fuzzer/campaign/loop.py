"""A campaign: draw a case, run it, judge it, look into what is new. It only sequences."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import NamedTuple

from fuzzer.availability import is_for_a_device
from fuzzer.campaign.cases import Cases
from fuzzer.campaign.gate import Gate
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.mix import lanes_of
from fuzzer.campaign.numbers import Numbers
from fuzzer.campaign.room import Room, is_full
from fuzzer.campaign.rows import row_of
from fuzzer.campaign.store import Store
from fuzzer.campaign.tally import Tally
from fuzzer.isolate.device_station import ON_THE_DEVICE
from fuzzer.isolate.executor import EnvironmentMissing
from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.processes import give_back_memory
from fuzzer.report import exported
from fuzzer.report.finding_file import FindingDoc
from fuzzer.settings import Settings
from fuzzer.terminal import say
from fuzzer.triage.blame.releases import released
from fuzzer.triage.blame.search import blamed
from fuzzer.triage.investigate import Confirmed, Sighting, investigate, sightings
from fuzzer.triage.reproduce import is_valid, judged_run
from generators.graph import Case, Invalid
from oracles import judge_all
from oracles.finding import Finding
from oracles.lane import Engine, LaneSpec, speaks_relay
from oracles.outcome import Result

SAVE_SECONDS = 5.0
TROUBLE = 10
"""Tests in a row that difftvm itself cannot do before a campaign ends: then it is not the case's fault."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What a worker is at, and since when (`time.monotonic`)."""

    what: str
    since: float


class Counts(NamedTuple):
    """Tests that are through, those of them that PyTorch refused, and those that difftvm itself could not do; lane
    results in tests."""

    tests: int
    invalid: int
    errors: int
    lane_results: int

    @classmethod
    def of(cls, tally: Tally) -> Counts:
        return cls(tally.tests, tally.invalid, tally.errors, tally.lane_results)


class Stopping(Exception):
    """The campaign ends before a test is through: the next run repeats it."""


Run = Callable[[Case, Sequence[LaneSpec]], Result]

Watch = Callable[[int, Case, Result, Sequence[Finding]], None]
"""Told of each test that is through: its number, case, result and what the oracles found."""


def _nobody(index: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
    return None


class Campaign:
    """One run of a campaign, over a pool of threads that each wait for children."""

    def __init__(
        self, settings: Settings, store: Store, executor: Lab, cases: Cases | None = None, watch: Watch = _nobody
    ) -> None:
        self.settings, self.store, self.executor = settings, store, executor
        self.guidance = self._guidance()
        self._cases = cases or (self.guidance.case if settings.guided else self.guidance.drawing.random)
        self._watch = watch
        self.new: list[FindingDoc] = []
        self.doing: dict[int, Doing] = {}
        self.after_saving: Callable[[], None] = lambda: None
        self.over = False
        """Its last books are committed: whoever tells of it now, tells how it ended."""
        self.began = time.monotonic()
        tally = store.state.tally
        self._before = tally.cpu_seconds, tally.wall_seconds
        self._counted_before = Counts.of(tally)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._in_a_row = 0
        begin = store.state.next_test
        self._numbers = Numbers(settings.share, begin, store.done_from(begin))
        self.gate = Gate()
        self.room = Room(
            store.folder, self.gate, say, settings.disk.limit, settings.disk.reserve, forget=store.forget_oldest
        )
        self.when_at_rest: Callable[[], None] = lambda: None

    def _guidance(self) -> Guidance:
        guidance = Guidance(self.settings, self.store.state.seed)
        guidance.recall(self.store.learnt())
        return guidance

    @property
    def counts(self) -> Counts:
        """Of this run alone; the store's books are the campaign's."""
        now = Counts.of(self.store.state.tally)
        return Counts(*(count - before for count, before in zip(now, self._counted_before, strict=True)))

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def stop(self) -> None:
        """Let each worker end the run of lanes that it is in, then return."""
        self._stop.set()

    def run(self) -> None:
        if self.room.look():
            self.store.save_state()
        with ThreadPoolExecutor(self.settings.workers, "worker") as pool:
            workers = [pool.submit(self._work) for _ in range(self.settings.workers)]
            try:
                self._supervise(workers)
            finally:
                self._stop.set()
        self._keep_books(over=True)
        for worker in workers:
            worker.result()

    def _supervise(self, workers: Sequence[Future[None]]) -> None:
        while not all(worker.done() for worker in workers):
            wait(workers, timeout=SAVE_SECONDS, return_when="FIRST_EXCEPTION")
            if self.room.look():
                self._keep_books()
                give_back_memory()  # a tenth of a millisecond, and a few MB after reductions that held large tensors
            if self.gate.at_rest:
                self.when_at_rest()
            if self._out_of_time and self.gate.is_shut:
                self._stop.set()
            if any(worker.done() and worker.exception() for worker in workers):
                return

    def _keep_books(self, over: bool = False) -> None:
        times, tally = os.times(), self.store.state.tally
        tally.cpu_seconds = self._before[0] + times.user + times.system + self.executor.cpu_seconds
        tally.wall_seconds = self._before[1] + self.seconds
        try:
            self.store.save_state(self.guidance.changed())
            self.over = over
            self.after_saving()
        except OSError as error:
            if not is_full(error):
                raise
            self.room.ran_out(str(error))

    def _work(self) -> None:
        try:
            while (index := self._take()) is not None:
                self._is_at(f"test {index}")
                if not self._through(index):
                    return
        except Stopping:
            return
        finally:
            self.doing.pop(threading.get_ident(), None)

    def _is_at(self, what: str) -> None:
        self.doing[threading.get_ident()] = Doing(what, time.monotonic())

    def _take(self) -> int | None:
        """The next test's number; None where this run is over."""
        until = self.settings.run
        with self._lock:
            all_done = until.tests is not None and self._numbers.taken >= until.tests
            enough = until.new_findings is not None and len(self.new) >= until.new_findings
            if self._stop.is_set() or self._out_of_time or all_done or enough:
                return None
            return self._numbers.take()

    @property
    def _out_of_time(self) -> bool:
        return self.settings.run.seconds is not None and self.seconds >= self.settings.run.seconds

    def _through(self, index: int) -> bool:
        """The test; False where there are no more cases. Once more where the disk was full in the middle of it, as soon
        as there is room. One that difftvm cannot do is kept for whoever mends it, and the campaign goes on."""
        case = None
        while True:
            try:
                case = case or self._cases(index)
                if case is not None:
                    self._test(index, case)
                    self._in_a_row = 0
                return case is not None
            except OSError as error:
                if not is_full(error):
                    raise
                self.room.ran_out(str(error))
            except (Stopping, Invalid, EnvironmentMissing):
                raise
            except Exception as error:
                self._in_a_row += 1
                if self._in_a_row >= TROUBLE:
                    raise
                told = f"test {index} of seed {self.store.state.seed}\n{traceback.format_exc()}"
                with self._lock:
                    folder = self.store.went_wrong(index, case, told, self._numbers.finish(index))
                what = f"{type(error).__name__}: {error}".partition("\n")[0]
                say(f"test {index}: difftvm itself failed ({what}); going on; see {folder}")
                return True

    def _at_the_gate(self, run: Run, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        with self.gate.run(self._stop.is_set) as admitted:
            if not admitted:
                raise Stopping
            return run(case, lanes)

    def _run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._at_the_gate(self.executor.run, case, lanes)

    def _test(self, index: int, case: Case) -> None:
        result = judged_run(self._run, case, lanes_of(self.settings, self.store.state.seed, index, case))
        findings = self._judged(case, result)
        waiting = deque((case, sighting) for sighting in sightings(findings))
        while waiting:
            waiting += self._look_into(*waiting.popleft())
        self.guidance.learn(index, case, result.outcomes, findings)
        self._watch(index, case, result, findings)
        row = row_of(index, result.cpu_seconds, result.outcomes, case.graph.ops)
        with self._lock:  # counted when it is through: what was cut short is repeated, and counts then
            invalid = not is_valid(result.outcomes)
            self.store.through(row, result, self._numbers.finish(index), invalid=invalid)

    def _look_into(self, case: Case, sighting: Sighting) -> Sequence[tuple[Case, Sighting]]:
        """Save it, where it is new; the other failures that its reduction came across are to be looked into as well."""
        if not self.store.claim(case, sighting):
            return ()
        self._is_at(f"a new {sighting.finding.kind} of {sighting.finding.lane.name}")
        run = self._run_for_triage
        try:
            found = self._examined(self._released(blamed(run, investigate(run, case, sighting))))
            doc = self.store.save(found, sighting, self.executor.versions)
        except OSError:  # what goes wrong otherwise is our own mistake, and made once, not for each test that shows it
            self.store.disclaim(sighting)
            raise
        if doc is not None:
            self.new.append(doc)
        return found.slips

    def _judged(self, case: Case, result: Result) -> list[Finding]:
        """What the oracles say. Of lanes for devices, what they say of a run in a worker where nothing ran before: what
        an earlier test left behind may show in results alone."""
        findings = list(judge_all(case, result.outcomes))
        doubted = [lane for lane in dict.fromkeys(f.lane for f in findings) if is_for_a_device(lane)]
        if not doubted:
            return findings
        return list(judge_all(case, {**result.outcomes, **self._run_for_triage(case, doubted).outcomes}))

    def _run_for_triage(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = self._at_the_gate(self.executor.run_fresh, case, lanes)
        self.store.triaged(result)
        return result

    def _released(self, found: Confirmed) -> Confirmed:
        """With how it fares in the campaign's other toolchains, where there are any: their zygotes are warm. Those that
        it does not know are left to `fuzz bisect`."""
        relay = speaks_relay(found.finding.lane)
        lanes = [
            lane for lane in self.settings.lanes.always if lane.engine is Engine.TVM and speaks_relay(lane) is relay
        ]
        others = () if relay else self.settings.releases
        toolchains = tuple(dict.fromkeys((*(lane.toolchain for lane in lanes), *others)))
        return released(self._run_for_triage, found, toolchains, self.executor.versions)

    def _examined(self, found: Confirmed) -> Confirmed:
        """With the ONNX file that TVM read, and what compute-sanitizer saw, where these come into it."""
        if self._stop.is_set():
            raise Stopping
        if exported.read_by_tvm(found.finding):
            found = replace(found, onnx=exported.onnx_file(self._run_for_triage, found.case, found.finding.lane))
        if found.finding.stage not in ON_THE_DEVICE:
            return found
        return replace(found, reports=self.executor.examine(found.case, found.finding.lane))
