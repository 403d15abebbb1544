"""The first SIGINT or SIGTERM ends a run cleanly, a second one at once.

`timeout` of coreutils signals the whole process group, and its child once more: that is one request.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM)

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
