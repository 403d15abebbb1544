"""The seconds that a command waits for a tracker, over all its requests and the waits between them. A limit for each
request alone bounds no command: `fuzz file --sync` asks once or more for each issue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzzer.filing.tracker import Denied


class TimeBudget:
    """`place` names the tracker. Each method raises `Denied` where no time is left before it."""

    def __init__(self, place: str, seconds: float, sleep: Callable[[float], None]) -> None:
        self._place, self._seconds, self._left, self._sleep = place, seconds, seconds, sleep

    @contextmanager
    def of_a_request(self) -> Iterator[None]:
        """Count the time of this context."""
        self._require(0.0)
        begin = time.monotonic()
        try:
            yield
        finally:
            self._left -= time.monotonic() - begin

    def sleep(self, seconds: float) -> None:
        """Nothing is waited for where less is left."""
        self._require(seconds)
        self._left -= seconds
        self._sleep(seconds)

    def _require(self, seconds: float) -> None:
        if self._left <= seconds:
            raise Denied(f"{self._place}: its answers take more than {self._seconds:g} s together; try again later")
