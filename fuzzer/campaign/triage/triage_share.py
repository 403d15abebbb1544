"""The share of the CPU that triage gets while tests run."""

from __future__ import annotations

import threading

LARGEST_SHARE = 0.42
"""Tests keep the rest, however many causes wait. That is half of all CPU where the supervisor, the zygotes and
the start take one seventh."""

SOME_CAUSES = 4
"""While this number of provisional causes waits, the share is in the middle between the least and the largest one."""

MOST_OWED = 60.0
"""The most CPU seconds that triage catches up on. More comes together only while no sighting waits."""


class TriageShare:
    """Decides whether the next task of a worker is triage. Thread-safe.

    `share` is the least part of the CPU that triage gets, between 0 and 1, while sightings wait. The part grows with
    the number of provisional causes, up to `LARGEST_SHARE`, so that this number stays bounded. With a share of 0,
    triage waits for the end of the tests.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._lock = threading.Lock()
        self._causes = 0
        self._owed = 0.0

    @property
    def now(self) -> float:
        """The part that triage gets now."""
        if not self._share:
            return 0.0
        return self._share + max(0.0, LARGEST_SHARE - self._share) * self._causes / (self._causes + SOME_CAUSES)

    @property
    def is_due(self) -> bool:
        """Whether triage has a part, and has had no more than that."""
        return self.now == 1 or (self.now > 0 and self._owed >= 0)

    def spent_on_tests(self, cpu_seconds: float) -> None:
        """Triage gets its part of the time now: a later change of the part concerns later tests only."""
        with self._lock:
            if (part := self.now) < 1:
                self._owed = min(self._owed + cpu_seconds * part / (1 - part), MOST_OWED)

    def spent_on_triage(self, cpu_seconds: float) -> None:
        with self._lock:
            self._owed -= cpu_seconds

    def waiting(self, causes: int) -> None:
        """Set how many provisional causes wait."""
        self._causes = causes
