"""What each worker of a campaign does now."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class CurrentTask:
    """What a worker does, in words. `since` is the start, on the clock of `time.monotonic`. `is_triage`: it does no
    test."""

    what: str
    since: float
    is_triage: bool = False


class Activity:
    """The current tasks of all workers. Each worker is a thread, which calls `begin` and `end` itself."""

    def __init__(self) -> None:
        self._doing: dict[int, CurrentTask] = {}

    def begin(self, what: str, *, is_triage: bool = False) -> None:
        self._doing[threading.get_ident()] = CurrentTask(what, time.monotonic(), is_triage)

    def goes_on(self, what: str) -> None:
        """Say what the task of this worker does now. It began as it did before."""
        if (task := self._doing.get(threading.get_ident())) is not None:
            self._doing[threading.get_ident()] = replace(task, what=what)

    def end(self) -> None:
        self._doing.pop(threading.get_ident(), None)

    @property
    def is_triage(self) -> bool:
        """Whether a worker does triage."""
        return any(task.is_triage for task in self.now)

    @property
    def now(self) -> tuple[CurrentTask, ...]:
        return tuple(self._doing.values())
