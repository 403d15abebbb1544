"""The loop of a campaign: draw a case, run it, judge it, keep what is new, investigate it. Other modules do these
steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from fuzzer.campaign.activity import Activity
from fuzzer.campaign.cases import Cases
from fuzzer.campaign.disk_space import DiskSpace, is_full
from fuzzer.campaign.dispatcher import Dispatcher
from fuzzer.campaign.failed_tests import FailedTests
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.judging import judged
from fuzzer.campaign.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.pause_switch import PauseSwitch
from fuzzer.campaign.rows import index_row
from fuzzer.campaign.run_progress import RunProgress
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.store import Store
from fuzzer.campaign.test_numbers import Numbers
from fuzzer.campaign.tiers import run_test
from fuzzer.campaign.triage import Triage
from fuzzer.campaign.triage_share import TriageShare
from fuzzer.isolate.fleet import Lab
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.processes import give_back_memory
from fuzzer.system.terminal import say
from fuzzer.triage.investigate import sightings
from fuzzer.triage.reproduce import is_valid
from generators.graph import Case, Invalid
from oracles.finding import Finding
from oracles.outcome import Result

SAVE_SECONDS = 5.0

Watch = Callable[[int, Case, Result, Sequence[Finding]], None]
"""Called with each finished test: its number, its case, its result and the findings of the oracles."""


class Campaign:
    """One run of a campaign. Its workers are threads that wait for children."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        lab: Lab,
        cases: Cases | None = None,
        watch: Watch = lambda index, case, result, findings: None,
    ) -> None:
        self.settings, self.store, self._watch = settings, store, watch
        self.guidance = Guidance(settings, store.state.seed)
        self.guidance.recall(store.observations())
        self._cases = cases or (self.guidance.case if settings.guided else self.guidance.case_source.random)
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
        self._lab = PausableLab(lab, self.pause_switch, lambda: self._dealer.is_stopped)
        self.triage = Triage(settings, store, LabOfTriage(self._lab, self._count_triage), self.activity)
        self._failed_tests = FailedTests(store, self._dealer)

    def stop(self) -> None:
        """Let each worker finish its current run of lanes, and return."""
        self._dealer.stop()

    def run(self) -> None:
        if self.disk_space.look():
            self.store.save_state()
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
                self._test(number)
                return True
            dealer = self._dealer
            return dealer.may_drain and self.triage.work(lambda: dealer.may_drain, lambda: dealer.tests_run)
        except OSError as error:
            if not is_full(error):
                raise
            self.disk_space.ran_out(str(error))
            return True

    def _count_triage(self, result: Result) -> None:
        self.store.triaged(result)
        self.share.spent_on_triage(result.cpu_seconds)

    def _test(self, number: int) -> None:
        """Do one test, or end the tests where no case is left. A test that fills the disk is repeated when there is
        space again."""
        self.activity.begin(f"test {number}")
        case = None
        while True:
            try:
                case = case or self._cases(number)
                if case is None:
                    return self._dealer.no_more_cases()
                return self._run(number, case)
            except OSError as error:
                if not is_full(error):
                    raise
                self.disk_space.ran_out(str(error))
            except (Stopping, Invalid, EnvironmentMissing):
                raise
            except Exception as error:
                return self._failed_tests.keep(number, case, error)

    def _run(self, number: int, case: Case) -> None:
        seed, chooser = self.store.state.seed, self.guidance.chooser
        tiers = run_test(self._lab.run, self.settings, seed, number, case, chooser)
        result, findings = judged(self._lab.run_fresh, case, tiers.result)
        self.share.spent_on_tests(result.cpu_seconds)
        self.share.tested(self.triage.add(case, sightings(findings)))
        self.guidance.learn(number, case, result.outcomes, findings)
        self._watch(number, case, result, findings)
        row = index_row(number, result.cpu_seconds, result.outcomes, case.graph.ops)
        self.store.finish_test(row, result, self._dealer.finish(number), invalid=not is_valid(result.outcomes))
        if tiers.evaluation_disagrees:
            self.store.keep_disagreement(number, case, tiers.evaluation_disagrees)
        self._failed_tests.reset()
