"""One test of a campaign: draw its case, run its lanes, judge them, put new sightings into the queue, and count it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.campaign.cases.cases import Cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.lanes.pausable_lab import PausableLab, Stopping
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.store import notable_tests
from fuzzer.campaign.store.disk_space import DiskSpace
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.dispatcher import Dispatcher
from fuzzer.campaign.test.failed_tests import FailedTests
from fuzzer.campaign.test.judging import judged
from fuzzer.campaign.test.tiers import run_test
from fuzzer.campaign.triage.triage import Triage
from fuzzer.campaign.triage.triage_share import TriageShare
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.storage_errors import is_full, may_pass
from fuzzer.triage.investigate import sightings
from fuzzer.triage.reproduce import is_valid
from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Result

MOST_ATTEMPTS = 3
"""How often a test is done whose sightings cannot be written, where the disk is not full."""

Watch = Callable[[int, Case, Result, Sequence[Finding]], None]
"""Called with each finished test: its number, its case, its result and the findings of the oracles."""


@dataclass(frozen=True, slots=True)
class Tests:
    """Does one test after the other. Several threads may do tests at the same time."""

    settings: Settings
    store: Store
    lab: PausableLab
    cases: Cases
    guidance: Guidance
    triage: Triage
    share: TriageShare
    disk_space: DiskSpace
    dispatcher: Dispatcher
    failed: FailedTests
    watch: Watch

    def run(self, number: int) -> None:
        """Do one test, or end the tests where no case is left. A test that could not be written is repeated when the
        disk can be written again, by the next run where this one is over. After a few errors other than a full disk, it
        counts as one that cannot be done."""
        case, attempt = None, 0
        while True:
            attempt += 1
            try:
                case = case or self.cases(number)
                if case is None:
                    return self.dispatcher.no_more_cases()
                return self._run(number, case)
            except OSError as error:
                if not may_pass(error):
                    raise
                if attempt >= MOST_ATTEMPTS and not is_full(error):
                    return self.failed.keep(number, case, error)
                self.disk_space.failed(error)
                if self.dispatcher.is_over:
                    raise Stopping from error
            except (Stopping, EnvironmentMissing):
                raise
            except Exception as error:
                return self.failed.keep(number, case, error)

    def _run(self, number: int, case: Case) -> None:
        tiers = run_test(self.lab.run, self.settings, self.store.state.seed, number, case, self.guidance.chooser)
        result, findings = judged(self.lab.run_fresh, case, tiers.result)
        self.share.spent_on_tests(result.cpu_seconds)
        self.triage.add(case, sightings(findings), result.outcomes)
        self.share.waiting(self.triage.queue.causes)
        self.store.offer(number, lambda: notable_tests.encoded(case, result, findings))
        self.guidance.learn(number, case, result.outcomes, findings, result.cpu_seconds)
        self.watch(number, case, result, findings)
        row = index_row(number, result.cpu_seconds, result.outcomes, case.graph.ops)
        self.store.finish_test(row, result, self.dispatcher.finish(number), invalid=not is_valid(result.outcomes))
        self.failed.note_broken(number, case, result.outcomes)
        if tiers.evaluation_disagrees:
            self.store.keep_disagreement(number, case, tiers.evaluation_disagrees)
        self.failed.reset()
        self._commit()

    def _commit(self) -> None:
        """Commit the test, so that a kill loses only tests that run. A disk that fails does not repeat the test."""
        try:
            self.store.commit_tests()
        except OSError as error:
            if not may_pass(error):
                raise
            self.disk_space.failed(error)
