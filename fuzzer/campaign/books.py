"""Keeps a campaign's books: what this run did, what it cost, and the commits of both to the store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from fuzzer.campaign.disk_space import Room, is_full
from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.store import Store
from fuzzer.campaign.tally import Tally


class RunCounts(NamedTuple):
    """Finished tests, those of them that PyTorch refused, tests that difftvm itself could not do, and the lane results
    of tests."""

    tests: int
    invalid: int
    errors: int
    lane_results: int

    @classmethod
    def of(cls, tally: Tally) -> RunCounts:
        return cls(tally.tests, tally.invalid, tally.errors, tally.lane_results)


class Books:
    """`lab_seconds` gives the CPU seconds of all processes that run lanes. `after_saving` is called after each
    commit."""

    def __init__(self, store: Store, guidance: Guidance, room: Room, lab_seconds: Callable[[], float]) -> None:
        self._store, self._guidance, self._room, self._lab_seconds = store, guidance, room, lab_seconds
        self._began = time.monotonic()
        tally = store.state.tally
        self._cpu_before, self._wall_before = tally.cpu_seconds, tally.wall_seconds
        self._counts_before = RunCounts.of(tally)
        self.after_saving: Callable[[], None] = lambda: None
        self.over = False
        """Whether the last commit of this run is made."""

    @property
    def seconds(self) -> float:
        """Since this run began."""
        return time.monotonic() - self._began

    @property
    def counts(self) -> RunCounts:
        """Of this run. The store has the counts of the campaign."""
        now = RunCounts.of(self._store.state.tally)
        return RunCounts(*(count - before for count, before in zip(now, self._counts_before, strict=True)))

    def save(self, over: bool = False) -> None:
        """Commit everything. A full disk pauses the campaign."""
        times, tally = os.times(), self._store.state.tally
        tally.cpu_seconds = self._cpu_before + times.user + times.system + self._lab_seconds()
        tally.wall_seconds = self._wall_before + self.seconds
        try:
            self._store.save_state(self._guidance.changed())
            self.over = over
            self.after_saving()
        except OSError as error:
            if not is_full(error):
                raise
            self._room.ran_out(str(error))
