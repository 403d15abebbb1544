"""What every run of lanes goes through: shut, a campaign pauses between two runs, and no deadline passes meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL_SECONDS = 0.1


class Gate:
    """Workers go in and out; whoever has a reason shuts it, and opens it again. A signal handler may do so in the
    middle of anything: to shut and to open takes no lock."""

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
        """Whether it is shut, and nobody inside any more."""
        return self.is_closed and not self._inside

    @contextmanager
    def run(self, give_up: Callable[[], bool]) -> Iterator[bool]:
        """Waits while the gate is shut; False where it was given up: then nothing may be run."""
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
            with self._lock:  # the one who looks for rest sees either the reason obeyed, or somebody inside
                self._inside += 1
                if not self.is_closed:
                    return True
                self._inside -= 1
            time.sleep(POLL_SECONDS)
