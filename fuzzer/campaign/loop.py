"""The loop of a campaign: its workers do tests and triage, one after the other, until the run ends. Other modules do
these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from fuzzer.campaign.activity import Activity
from fuzzer.campaign.cases import Cases
from fuzzer.campaign.disk_space import DiskSpace
from fuzzer.campaign.dispatcher import Dispatcher
from fuzzer.campaign.failed_tests import FailedTests
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.one_test import Tests, Watch
from fuzzer.campaign.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.pause_switch import PauseSwitch
from fuzzer.campaign.run_progress import RunProgress
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.store import Store
from fuzzer.campaign.test_numbers import Numbers
from fuzzer.campaign.triage import Triage
from fuzzer.campaign.triage_share import TriageShare
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.system.processes import give_back_memory
from fuzzer.system.storage_errors import may_pass
from fuzzer.system.terminal import say
from oracles.outcome import Result

SAVE_SECONDS = 5.0


class Campaign:
    """One run of a campaign. Its workers are threads that wait for children."""

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
        self.settings, self.store = settings, store
        self.guidance = guidance or Guidance(settings, store.state.seed)
        self.guidance.recall(store.observations())
        self.pause_switch = PauseSwitch()
        self.disk_space = DiskSpace(
            store.folder, self.pause_switch, say, settings.disk.limit, settings.disk.reserve, store.forget_oldest
        )
        self.when_idle: Callable[[], None] = lambda: None
        self.progress = RunProgress(store, self.guidance, self.disk_space, lambda: lab.cpu_seconds)
        self.activity = Activity()
        next_test = store.state.next_test
        numbers = Numbers(settings.share, next_test, store.done_from(next_test))
        self._dealer = Dispatcher(
            numbers, settings.run, settings.triage.drain, lambda: self.progress.seconds, lambda: len(self.triage.new)
        )
        self.share = TriageShare(settings.triage.share)
        pausable = PausableLab(lab, self.pause_switch, lambda: self._dealer.is_stopped)
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
            self._dealer,
            FailedTests(store, self._dealer),
            watch,
        )

    def stop(self) -> None:
        """Let each worker finish its current run of lanes, and return."""
        self._dealer.stop()

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
            wait(workers, timeout=SAVE_SECONDS, return_when="FIRST_EXCEPTION")
            if self.disk_space.look():
                self.progress.save()
                give_back_memory()  # takes 0.1 ms, and frees some MB after a reduction with large tensors
            if self.pause_switch.is_idle:
                self.when_idle()
            if self.pause_switch.is_set and not (self._dealer.tests_go_on or self._dealer.may_drain):
                self.stop()
            if any(worker.done() and worker.exception() for worker in workers):
                return

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
            if self._dealer.tests_go_on and self.share.is_due and self.triage.work():
                return True
            if (number := self._dealer.take()) is not None:
                self.activity.begin(f"test {number}")
                self._tests.run(number)
                return True
            dealer = self._dealer
            return dealer.may_drain and self.triage.work(lambda: dealer.may_drain, lambda: dealer.tests_run)
        except OSError as error:
            if not may_pass(error):
                raise
            self.disk_space.failed(error)
            return True

    def _count_triage(self, result: Result) -> None:
        self.store.triaged(result)
        self.share.spent_on_triage(result.cpu_seconds)
