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
"""The largest part of one core that the computation of a value may take."""


NEWS_COST = 0.03
"""The largest part of one core where there is news."""


class Cached(Generic[T]):
    """A value that is computed again after `seconds`, or later where that would take more than `MOST_COST` of a core,
    and once more when the run is over. Where `stamp` returns something new, there is news: then only `NEWS_COST`
    limits it."""

    def __init__(self, seconds: float, ask: Callable[[], T], stamp: Callable[[], object] = lambda: None) -> None:
        self._seconds, self._ask, self._stamp = seconds, ask, stamp
        self._took = 0.0
        self._held: tuple[float, bool, object, T] | None = None

    def value(self, now: float, over: bool) -> T:
        stamp = self._stamp()
        if self._held is None or self._is_old(self._held, now, over, stamp):
            began = time.thread_time()
            self._held = now, over, stamp, self._ask()
            self._took = time.thread_time() - began
        return self._held[3]

    def _is_old(self, held: tuple[float, bool, object, T], now: float, over: bool, stamp: object) -> bool:
        at, was_over, was, _ = held
        after = self._took / NEWS_COST if was != stamp else max(self._seconds, self._took / MOST_COST)
        return was_over is not over or now - at >= after
