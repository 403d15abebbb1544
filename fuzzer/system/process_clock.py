"""Clocks for bounds of wall time: they leave out what a process is not to blame for."""

from __future__ import annotations

import time

from fuzzer.system import process_tree

STOPPED_SECONDS = 2.0

MOST_TIMES, LEAST_SECONDS = 5, 120.0
"""Where a process waits for a processor, it may take this many times its bound of wall time, and always so long."""


class Clock:
    """The seconds since it was made, without those in which this process was stopped or the machine suspended. It must
    be read often: more than `STOPPED_SECONDS` between two readings count as that.

    was_stopped  whether this process was stopped before the last reading
    """

    def __init__(self) -> None:
        self._seconds, self._read, self.was_stopped = 0.0, time.monotonic(), False

    def seconds(self) -> float:
        now = time.monotonic()
        passed, self._read = now - self._read, now
        self.was_stopped = passed > STOPPED_SECONDS
        self._seconds += min(passed, STOPPED_SECONDS)
        return self._seconds


class ProcessClock(Clock):
    """A clock for another process, and for those below it: it knows how long they have waited for a processor since it
    was made. On a machine that is too busy, a process that is nearly done waits; one that hangs does not.

    Where several threads wait at the same time, the longest wait between two readings counts, so that a process cannot
    add up waits. What a process waited for that ended between two readings is left out.
    """

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid, self._waited, self._waits = pid, 0.0, process_tree.waits(pid)

    def own_seconds(self) -> float:
        """The seconds without those in which it waited for a processor. To be read often too."""
        before, self._waits = self._waits, process_tree.waits(self._pid)
        waited = max((seconds - before.get(thread, 0.0) for thread, seconds in self._waits.items()), default=0.0)
        passed = self.seconds()
        self._waited = min(self._waited + max(waited, 0.0), passed)
        return passed - self._waited

    def is_over(self, bound: float) -> bool:
        """Whether the process has had more than `bound` seconds."""
        return self.own_seconds() > bound

    def why_short(self, bound: float) -> str:
        """That the machine was too busy for a process with this bound of wall time; "" where it was not."""
        if (passed := self.seconds()) <= max(MOST_TIMES * bound, LEAST_SECONDS):
            return ""
        return f"the machine is too busy: a process waited {self._waited:.0f} s of {passed:.0f} s for a processor"
