"""How far a run of a campaign is: what it did and what it cost. Commits both to the store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.disk_space import DiskSpace
from fuzzer.campaign.store.store import Store
from fuzzer.system.storage_errors import may_pass


class RunCounts(NamedTuple):
    """Counts of one run.

    tests         finished tests
    invalid       finished tests that PyTorch refused
    errors        tests that difftvm itself could not do
    lane_results  lane results in tests, without those in triage
    """

    tests: int
    invalid: int
    errors: int
    lane_results: int

    @classmethod
    def of(cls, counters: Counters) -> RunCounts:
        return cls(counters.tests, counters.invalid, counters.errors, counters.lane_results)


class RunProgress:
    """`lab_seconds` returns the CPU seconds of all processes that run lanes, `clock` the time in seconds.
    `after_saving` is called after each commit."""

    def __init__(
        self,
        store: Store,
        guidance: Guidance,
        disk_space: DiskSpace,
        lab_seconds: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._guidance, self._disk_space, self._lab_seconds = store, guidance, disk_space, lab_seconds
        self._clock, self._began = clock, clock()
        counters = store.state.counters
        self._cpu_before, self._wall_before = counters.cpu_seconds, counters.wall_seconds
        self._counts_before = RunCounts.of(counters)
        self.after_saving: Callable[[], None] = lambda: None
        self.over = False
        """Whether the last commit of this run has been made."""

    @property
    def seconds(self) -> float:
        """The time of the clock since this run began."""
        return self._clock() - self._began

    @property
    def counts(self) -> RunCounts:
        """The counts of this run. The store has those of the campaign, over all its runs."""
        now = RunCounts.of(self._store.state.counters)
        return RunCounts(*(count - before for count, before in zip(now, self._counts_before, strict=True)))

    def save(self, over: bool = False) -> None:
        """Commit everything. A disk that fails or is full pauses the campaign."""
        times, counters = os.times(), self._store.state.counters
        counters.cpu_seconds = self._cpu_before + times.user + times.system + self._lab_seconds()
        counters.wall_seconds = self._wall_before + self.seconds
        try:
            self._store.save_state(self._guidance.changed())
            self.over = over
            self.after_saving()
        except OSError as error:
            if not may_pass(error):
                raise
            self._disk_space.failed(error)
        else:
            self._disk_space.succeeded()
