"""What each worker of a campaign does now."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

TRIAGE = "triage: "
"""How the words for what triage does begin."""


@dataclass(frozen=True, slots=True)
class CurrentTask:
    """What a worker does. `since` is the start, on the clock of `time.monotonic`."""

    what: str
    since: float

    @property
    def is_triage(self) -> bool:
        return self.what.startswith(TRIAGE)


class Activity:
    """The current tasks of all workers. Each worker is a thread, which calls `begin` and `end` itself."""

    def __init__(self) -> None:
        self._doing: dict[int, CurrentTask] = {}

    def begin(self, what: str) -> None:
        self._doing[threading.get_ident()] = CurrentTask(what, time.monotonic())

    def end(self) -> None:
        self._doing.pop(threading.get_ident(), None)

    @property
    def is_triage(self) -> bool:
        """Whether a worker does triage."""
        return any(task.is_triage for task in self.now)

    @property
    def now(self) -> tuple[CurrentTask, ...]:
        return tuple(self._doing.values())
