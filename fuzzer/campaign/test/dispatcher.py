"""Gives the numbers of tests to the workers until the run is stopped, or reaches one of its limits."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.plan.test_numbers import Numbers

GRACE = 3.0
"""Seconds after the end of the time in which what is under way may still be finished."""


class Dispatcher:
    """Thread-safe. `drain` is how many seconds triage may go on after the last test. `seconds` and `new_findings`
    return how long the run has taken and how many findings it has made."""

    def __init__(
        self,
        numbers: Numbers,
        limits: RunLimits,
        drain: float,
        seconds: Callable[[], float],
        new_findings: Callable[[], int],
    ) -> None:
        self._numbers, self._limits, self._seconds, self._new_findings = numbers, limits, seconds, new_findings
        self._drain = drain
        self._tests_ended: float | None = None
        self._running = 0
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def take(self) -> int | None:
        """The number of the next test; None where the run has ended."""
        with self._lock:
            number = self._numbers.take() if self._begins_tests() else None
            if number is None:
                self._end_tests()
            else:
                self._running += 1
            return number

    @property
    def is_over(self) -> bool:
        """Whether the run was stopped, or its time is used up. A write that failed is not tried again then."""
        return self.is_stopped or _reached(self._limits.seconds, self._seconds())

    @property
    def tests_go_on(self) -> bool:
        """Whether this run still begins tests."""
        with self._lock:
            return self._begins_tests()

    @property
    def may_drain(self) -> bool:
        """Whether a worker may begin another investigation although there are no more tests."""
        with self._lock:
            if self._begins_tests() or self.is_stopped or self._has_enough or self._tests_ended is None:
                return False
            return self._seconds() - self._tests_ended < self._drain

    @property
    def seconds_to_stop(self) -> float:
        """In how many seconds the run must stop, whatever is under way: `GRACE` after the time for tests and triage.
        Tests whose number is limited, and not their time, are finished first."""
        with self._lock:
            ends = [math.inf]
            if self._limits.seconds is not None:
                ends.append(self._limits.seconds + self._drain)
            if self._tests_ended is not None and not self._running:
                ends.append(self._tests_ended + self._drain)
            return max(0.0, min(ends) + GRACE - self._seconds())

    @property
    def seconds_left(self) -> float | None:
        """How long tests begin at most; after them, how long triage may go on. None without a limit of time."""
        with self._lock:
            now = self._seconds()
            if self._begins_tests():
                return None if self._limits.seconds is None else max(0.0, self._limits.seconds - now)
            left = self._drain - (now - (self._tests_ended or now))
            return None if math.isinf(left) else max(0.0, left)

    @property
    def part_over(self) -> float | None:
        """The part of the tests that is over, from 0 to 1, by the limit that is nearest; after them, the part of the
        time for triage. None without a limit."""
        with self._lock:
            now, limits = self._seconds(), self._limits
            if not self._begins_tests():
                return min(1.0, (now - (self._tests_ended or now)) / max(self._drain, 1e-9))
            done = (
                (now, limits.seconds),
                (self._numbers.taken - self._running, limits.tests),
                (self._new_findings(), limits.new_findings),
            )
            return max((min(1.0, count / max(limit, 1e-9)) for count, limit in done if limit is not None), default=None)

    @property
    def tests_run(self) -> bool:
        """Whether a test has been begun and is not finished."""
        return self._running > 0

    def no_more_cases(self) -> None:
        """Give out no more numbers: there is no case for the last one. Triage may go on."""
        with self._lock:
            self._running -= 1
            self._end_tests()

    def _begins_tests(self) -> bool:
        """Whether no limit is reached. The time for triage begins when this is first asked after one was."""
        limits, taken = self._limits, self._numbers.taken
        late = _reached(limits.seconds, self._seconds()) or _reached(limits.tests, taken)
        if self.is_stopped or late or self._has_enough:
            self._end_tests()
        return self._tests_ended is None

    def _end_tests(self) -> None:
        if self._tests_ended is None:
            self._tests_ended = self._seconds()

    @property
    def _has_enough(self) -> bool:
        return _reached(self._limits.new_findings, self._new_findings())

    def finish(self, number: int) -> int:
        """Mark a test as finished; return the first test that is not."""
        with self._lock:
            self._running -= 1
            return self._numbers.finish(number)


def _reached(limit: float | None, now: float) -> bool:
    return limit is not None and now >= limit
