"""A switch that every run of lanes looks at before it begins. While it is set, the campaign pauses between two runs of
lanes, so that no time limit of a lane passes meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL_SECONDS = 0.1


class PauseSwitch:
    """Set while there is at least one reason. `set` and `clear` take no lock, so that a signal handler may call them at
    any moment."""

    def __init__(self) -> None:
        self._reasons: dict[str, None] = {}
        self._running = 0
        self._lock = threading.Lock()

    def set(self, reason: str) -> None:
        self._reasons[reason] = None

    def clear(self, reason: str) -> None:
        self._reasons.pop(reason, None)

    @property
    def is_set(self) -> bool:
        return bool(self._reasons)

    def is_set_by(self, reason: str) -> bool:
        return reason in self._reasons

    @property
    def is_idle(self) -> bool:
        """Whether the switch is set and no lane runs."""
        return self.is_set and not self._running

    @contextmanager
    def run(self, give_up: Callable[[], bool]) -> Iterator[bool]:
        """Wait while the switch is set; the lanes run while the context is open. Yield False where `give_up` returned
        True: then nothing may be run."""
        admitted = self._begun(give_up)
        try:
            yield admitted
        finally:
            with self._lock:
                self._running -= admitted

    def _begun(self, give_up: Callable[[], bool]) -> bool:
        while True:
            if give_up():
                return False
            with self._lock:  # so that `is_idle` is never true while a worker is about to run
                self._running += 1
                if not self.is_set:
                    return True
                self._running -= 1
            time.sleep(POLL_SECONDS)
