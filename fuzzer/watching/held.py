"""Values of a running campaign that are held for a while: rates of counters, and what takes long to compute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

RATE_SECONDS = 60.0
"""Rates are those of the last minute."""


class Rates:
    """Rates of counters that only grow, over the last `RATE_SECONDS`."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, tuple[int, ...]]] = deque()

    def of(self, now: float, *counters: int) -> tuple[float, ...]:
        """Per second; 0 at the first call."""
        self._samples.append((now, counters))
        while len(self._samples) > 2 and self._samples[1][0] <= now - RATE_SECONDS:
            self._samples.popleft()
        then, before = self._samples[0]
        passed = max(now - then, 1e-9)
        return tuple((counter - old) / passed for counter, old in zip(counters, before, strict=True))


T = TypeVar("T")


MOST_COST = 0.02
"""The largest part of the CPU time of this process that the computation of a value may take."""


NEWS_COST = 0.05
"""The largest part of it where there is news."""

LONGEST_SECONDS = 60.0
"""How long a value is held at most, whatever its computation costs, unless that takes more than `MOST_COST` of a
core."""


class Cached(Generic[T]):
    """A value that is computed again after `seconds`, or later where that would take more than `MOST_COST` of the CPU
    time of this process, and once more when the run is over. Where `stamp` returns something new, there is news: then
    only `NEWS_COST` limits it. On a machine with other work, this process gets little CPU time in a second: to watch a
    campaign must not take much of that."""

    def __init__(self, seconds: float, ask: Callable[[], T], stamp: Callable[[], object] = lambda: None) -> None:
        self._seconds, self._ask, self._stamp = seconds, ask, stamp
        self._took = 0.0
        self._held: tuple[float, float, bool, object, T] | None = None

    def value(self, now: float, over: bool) -> T:
        stamp = self._stamp()
        if self._held is None or self._is_old(self._held, now, over, stamp):
            began = time.thread_time()
            value = self._ask()
            self._took = time.thread_time() - began
            self._held = now, time.process_time(), over, stamp, value
        return self._held[-1]

    def _is_old(self, held: tuple[float, float, bool, object, T], now: float, over: bool, stamp: object) -> bool:
        at, used, was_over, was, _ = held
        if was_over is not over or now - at >= max(LONGEST_SECONDS, self._seconds, self._took / MOST_COST):
            return True
        part = NEWS_COST if was != stamp else MOST_COST
        may_take = time.process_time() - used >= self._took / part
        return may_take and (was != stamp or now - at >= self._seconds)
