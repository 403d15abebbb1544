"""The first SIGINT or SIGTERM ends a run cleanly, a second one at once. SIGTSTP (Ctrl-Z) pauses it, SIGCONT goes on.

`timeout` of coreutils signals the whole process group, and its child once more: that is one request.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from fuzzer.campaign.gate import Gate

SIGNALS = (signal.SIGINT, signal.SIGTERM)

REQUESTED = "asked"
"""Why the gate is shut."""

ONE_REQUEST = 1.0
"""Seconds after the first signal within which others mean the same."""


def on_first_signal(stop: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
    """Calls `stop` in the main thread, in the middle of whatever it does."""
    first: float | None = None

    def on_signal(signum: int, frame: object) -> None:
        nonlocal first
        now = clock()
        if first is None:
            first = now
            stop()
        elif now - first > ONE_REQUEST:
            signal.signal(signum, signal.SIG_DFL)
            signal.raise_signal(signum)

    for each in SIGNALS:
        signal.signal(each, on_signal)


class Pause:
    """What SIGTSTP does to a campaign: its gate is shut; once nothing runs behind it, `rest` stops the process, until
    SIGCONT. No deadline passes while it is stopped: none is running."""

    def __init__(self, gate: Gate, report: Callable[[str], None]) -> None:
        self._gate, self._report = gate, report
        signal.signal(signal.SIGTSTP, self._pause)
        signal.signal(signal.SIGCONT, self._go_on)

    # Either handler may be interrupted by the other wherever it is: each changes the gate in one step, and tells then.

    def _pause(self, signum: int, frame: object) -> None:
        if not self._requested:
            self._gate.close(REQUESTED)
            self._report("pausing as soon as what is under way has ended")

    def _go_on(self, signum: int, frame: object) -> None:
        if self._requested:
            self._gate.open(REQUESTED)
            self._report("going on")

    @property
    def _requested(self) -> bool:
        return self._gate.is_closed_for(REQUESTED)

    def rest(self) -> None:
        """Called by the main thread while nothing runs."""
        if not self._requested:
            return
        self._report("paused; SIGCONT (fg, kill -CONT) goes on")
        if self._requested:  # else it came while that was said
            os.kill(os.getpid(), signal.SIGSTOP)
