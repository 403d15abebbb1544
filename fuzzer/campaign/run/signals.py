"""Signals: the first SIGINT, SIGTERM or SIGHUP ends a run cleanly, a second one ends it at once. SIGTSTP
(Ctrl-Z) pauses it, and SIGCONT continues it.

`timeout` of coreutils signals the whole process group, and then its child again. These two signals count as one.
`nohup` ignores SIGHUP, and it stays ignored.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from fuzzer.campaign.store.pause_switch import PauseSwitch

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

REQUESTED = "asked"
"""The reason under which the pause switch is set."""

ONE_REQUEST = 1.0
"""Seconds after the first signal in which further signals count as the same request."""


def on_first_signal(stop: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
    """Install the handlers. `stop` is called in the main thread, between any two instructions."""
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
        if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, on_signal)


class Pause:
    """Pauses a campaign on SIGTSTP: sets its pause switch, and once no lane runs, `rest` stops the process until
    SIGCONT. No time limit passes while the process is stopped, because no lane runs."""

    def __init__(self, switch: PauseSwitch, report: Callable[[str], None]) -> None:
        self._switch, self._report = switch, report
        signal.signal(signal.SIGTSTP, self._pause)
        signal.signal(signal.SIGCONT, self._go_on)

    # Each handler may be interrupted by the other at any point. So each changes the switch in one step, then reports.

    def _pause(self, signum: int, frame: object) -> None:
        if not self._requested:
            self._switch.set(REQUESTED)
            self._report("pausing as soon as the current runs have ended")

    def _go_on(self, signum: int, frame: object) -> None:
        if self._requested:
            self._switch.clear(REQUESTED)
            self._report("continuing")

    @property
    def _requested(self) -> bool:
        return self._switch.is_set_by(REQUESTED)

    def rest(self) -> None:
        """Stop the process if a pause was requested. The main thread calls it while no lane runs."""
        if not self._requested:
            return
        self._report("paused; SIGCONT (fg, kill -CONT) continues")
        if self._requested:  # SIGCONT may have come during the report
            os.kill(os.getpid(), signal.SIGSTOP)
