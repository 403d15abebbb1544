"""Waits for processes of other tests' making to end."""

from __future__ import annotations

import time

from fuzzer.system import processes


def ends(pid: int, seconds: float = 120.0) -> bool:
    """Whether a process ends within some seconds. A zombie has ended."""
    deadline = time.monotonic() + seconds
    while processes.state(pid) not in ("", "Z"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
