"""A gate that every run of lanes enters. While it is closed, the campaign pauses between two runs of lanes, so that no
time limit of a lane passes meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL_SECONDS = 0.1


class Gate:
    """Closed while at least one reason is set. `close` and `open` take no lock, so that a signal handler may call them
    at any moment."""

    def __init__(self) -> None:
        self._reasons: dict[str, None] = {}
        self._inside = 0
        self._lock = threading.Lock()

    def close(self, reason: str) -> None:
        self._reasons[reason] = None

    def open(self, reason: str) -> None:
        self._reasons.pop(reason, None)

    @property
    def is_closed(self) -> bool:
        return bool(self._reasons)

    def is_closed_for(self, reason: str) -> bool:
        return reason in self._reasons

    @property
    def is_idle(self) -> bool:
        """Whether the gate is closed and no worker is inside."""
        return self.is_closed and not self._inside

    @contextmanager
    def run(self, give_up: Callable[[], bool]) -> Iterator[bool]:
        """Wait while the gate is closed, and stay inside while the context is open. Yield False where `give_up`
        returned True: then nothing may be run."""
        admitted = self._entered(give_up)
        try:
            yield admitted
        finally:
            with self._lock:
                self._inside -= admitted

    def _entered(self, give_up: Callable[[], bool]) -> bool:
        while True:
            if give_up():
                return False
            with self._lock:  # so that `is_idle` is never true while a worker is about to run
                self._inside += 1
                if not self.is_closed:
                    return True
                self._inside -= 1
            time.sleep(POLL_SECONDS)
