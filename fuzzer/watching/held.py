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


class Cached(Generic[T]):
    """A value that is computed again after `seconds`, or later where that would take more than `MOST_COST` of a core,
    and once more when the run is over."""

    def __init__(self, seconds: float, ask: Callable[[], T]) -> None:
        self._seconds, self._ask = seconds, ask
        self._took = 0.0
        self._held: tuple[float, bool, T] | None = None

    def value(self, now: float, over: bool) -> T:
        after = max(self._seconds, self._took / MOST_COST)
        if self._held is None or self._held[1] is not over or now - self._held[0] >= after:
            began = time.thread_time()
            self._held = now, over, self._ask()
            self._took = time.thread_time() - began
        return self._held[2]
