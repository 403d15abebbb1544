"""The loop of a campaign: its workers do tests and triage, one after the other, until the run ends. Other modules do
these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from fuzzer.campaign.cases.cases import Cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.lanes.activity import Activity
from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.test_numbers import Numbers
from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.campaign.run.run_progress import RunProgress
from fuzzer.campaign.store.disk_space import DISK, DiskSpace
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.dispatcher import Dispatcher
from fuzzer.campaign.test.failed_tests import FailedTests
from fuzzer.campaign.test.one_test import Tests, Watch
from fuzzer.campaign.triage.triage import Triage
from fuzzer.campaign.triage.triage_share import TriageShare
from fuzzer.findings.check_failures import fails_check
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.system.processes import give_back_memory
from fuzzer.system.storage_errors import may_pass
from fuzzer.system.terminal import say
from oracles.outcome import Result

SAVE_SECONDS = 5.0

SHORT_SECONDS = 900.0
"""A run of at most `SHORT_SECONDS` is short."""

AFTER_SHORT = 0.5
"""The part of triage that goes to scopes when the tests of a short run have ended: what it lists first has its
condition then."""


class Campaign:
    """One run of a campaign. Its workers are threads that wait for children. Its limits of time are of the clock in its
    settings. All else that depends on time depends on the CPU seconds that the lab says."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        lab: Lab,
        cases: Cases | None = None,
        watch: Watch = lambda index, case, result, findings: None,
        machine: Machine = THIS,
        guidance: Guidance | None = None,
    ) -> None:
        self.settings, self.store, self._lab = settings, store, lab
        self._tvm = ""
        self.guidance = guidance or Guidance(settings, store.state.seed)
        self.guidance.recall(store.observations())
        self.pause_switch = PauseSwitch()
        self.disk_space = DiskSpace(
            store.folder, self.pause_switch, say, settings.disk.limit, settings.disk.reserve, store.forget_oldest
        )
        self.when_idle: Callable[[], None] = lambda: None
        self.progress = RunProgress(store, self.guidance, self.disk_space, lambda: lab.cpu_seconds, settings.run.clock)
        self.activity = Activity()
        next_test = store.state.next_test
        numbers = Numbers(settings.share, next_test, store.done_from(next_test))
        self._dispatcher = Dispatcher(
            numbers, settings.run, settings.triage.drain, lambda: self.progress.seconds, self._counted
        )
        self.share = TriageShare(settings.triage.share)
        pausable = PausableLab(lab, self.pause_switch, lambda: self._dispatcher.is_stopped)
        self.triage = Triage(settings, store, LabOfTriage(pausable, self._count_triage), self.activity, machine)
        self._tests = Tests(
            settings,
            store,
            pausable,
            cases or (self.guidance.case if settings.guided else self.guidance.case_source.random),
            self.guidance,
            self.triage,
            self.share,
            self.disk_space,
            self._dispatcher,
            FailedTests(store, self._dispatcher),
            watch,
        )

    def stop(self) -> None:
        """Let each worker return after its current run of lanes. A lab that can give up a run ends it at once."""
        self._dispatcher.stop()

    @property
    def is_stopped(self) -> bool:
        return self._dispatcher.is_stopped

    @property
    def tvm(self) -> str:
        """The version of TVM in the host; "" where the campaign was stopped before this was first asked."""
        if not self._tvm and not self.is_stopped:
            self._tvm = self._lab.versions.get("tvm", "")
        return self._tvm

    @property
    def phase(self) -> PhaseProgress:
        dispatcher = self._dispatcher
        if self.pause_switch.is_set and not dispatcher.is_stopped:
            return PhaseProgress(Phase.PAUSED)
        if dispatcher.tests_go_on:
            return PhaseProgress(Phase.FUZZING, dispatcher.seconds_left, dispatcher.part_over)
        left = self.triage.queue.left
        if dispatcher.may_drain and (left or self.activity.is_triage):
            return PhaseProgress(Phase.TRIAGE, dispatcher.seconds_left, self._part_of_triage(left), left)
        return PhaseProgress(Phase.FINISHING)

    def _part_of_triage(self, left: int) -> float:
        """Triage ends when its time is up, or when nothing is left."""
        by_count = self.triage.done / max(1, self.triage.done + left)
        return by_count if self._dispatcher.seconds_left is None else self._dispatcher.part_over or 0.0

    @property
    def _is_short(self) -> bool:
        """Whether the run takes minutes. Then people want to see failures first: scopes wait for the end of the
        tests."""
        limit = self.settings.run.seconds
        return limit is not None and limit <= SHORT_SECONDS

    @property
    def _part_of_scopes(self) -> float:
        """The part of the CPU of triage that goes to scopes now."""
        part = self.settings.triage.scopes
        if not self._is_short:
            return part
        return 0.0 if self._dispatcher.tests_go_on else part and max(part, AFTER_SHORT)

    def _counted(self) -> int:
        """How many new findings count for the limits of this run."""
        aliasing = self.settings.run.aliasing
        return sum(fails_check(doc.kind, aliasing=aliasing) for doc in self.triage.new)

    def run(self) -> None:
        if self.disk_space.look():
            self.progress.save()
        with ThreadPoolExecutor(self.settings.workers, "worker") as pool:
            workers = [pool.submit(self._work) for _ in range(self.settings.workers)]
            try:
                self._supervise(workers)
            finally:
                self.stop()
        self.progress.save(over=True)
        for worker in workers:
            worker.result()

    def _supervise(self, workers: Sequence[Future[None]]) -> None:
        while not all(worker.done() for worker in workers):
            wait(workers, timeout=min(SAVE_SECONDS, self._dispatcher.seconds_to_stop), return_when="FIRST_EXCEPTION")
            if self._dispatcher.seconds_to_stop <= 0:
                self.stop()
            if self.disk_space.look():
                self.progress.save()
                give_back_memory()  # takes 0.1 ms, and frees some MB after a reduction with large tensors
            if self.pause_switch.is_idle:
                self.when_idle()
            if self.pause_switch.is_set and not (self._dispatcher.tests_go_on or self._may_drain):
                self.stop()
            if any(worker.done() and worker.exception() for worker in workers):
                return

    @property
    def _may_drain(self) -> bool:
        """Whether triage may go on. It is not waited for on a disk that fails when the time of the run is used up."""
        waits_for_disk = self.pause_switch.is_set_by(DISK) and self._dispatcher.is_over
        return self._dispatcher.may_drain and not waits_for_disk

    def _work(self) -> None:
        try:
            while self._next_task():
                pass
        except Stopping:
            return
        finally:
            self.activity.end()

    def _next_task(self) -> bool:
        """Do triage or a test, or triage alone when there are no more tests. Return False where nothing is left."""
        try:
            if self._dispatcher.tests_go_on and self.share.is_due and self.triage.work(self._part_of_scopes):
                return True
            if (number := self._dispatcher.take()) is not None:
                self.activity.begin(f"testing case {number}")
                self._tests.run(number)
                return True
            dispatcher = self._dispatcher
            return dispatcher.may_drain and self.triage.work(
                self._part_of_scopes, lambda: dispatcher.may_drain, lambda: dispatcher.tests_run
            )
        except OSError as error:
            if not may_pass(error):
                raise
            self.disk_space.failed(error)
            return not self._dispatcher.is_over

    def _count_triage(self, result: Result) -> None:
        self.store.triaged(result)
        self.share.spent_on_triage(result.cpu_seconds)
