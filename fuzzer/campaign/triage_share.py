"""The share of the CPU that triage gets while tests run."""

from __future__ import annotations

import threading

QUIET_TESTS = 400
"""After this number of tests without a new sighting, half of what tests would get goes to triage too."""


class TriageShare:
    """Decides whether the next task of a worker is triage. Thread-safe.

    `share` is the least part of the CPU that triage gets, between 0 and 1, while sightings wait. The part grows with
    each test that shows nothing new. With a share of 0, triage waits for the end of the tests. The seconds are CPU
    seconds of this run.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._lock = threading.Lock()
        self._quiet = 0
        self.test_seconds = 0.0
        self.triage_seconds = 0.0

    @property
    def now(self) -> float:
        """The part that triage gets now."""
        if not self._share:
            return 0.0
        return self._share + (1 - self._share) * self._quiet / (self._quiet + QUIET_TESTS)

    @property
    def is_due(self) -> bool:
        """Whether triage has a part, and has had no more than that."""
        return self.now > 0 and self.triage_seconds <= self.now * (self.test_seconds + self.triage_seconds)

    def spent_on_tests(self, cpu_seconds: float) -> None:
        with self._lock:
            self.test_seconds += cpu_seconds

    def spent_on_triage(self, cpu_seconds: float) -> None:
        with self._lock:
            self.triage_seconds += cpu_seconds

    def tested(self, new: bool) -> None:
        """Count a finished test; `new` says whether it showed something that was not known."""
        with self._lock:
            self._quiet = 0 if new else self._quiet + 1
