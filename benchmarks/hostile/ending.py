"""The end of a child process, and what it has used."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """code       the exit code, or minus the number of the signal
    cpu, wall  seconds
    megabytes  the most memory of the process
    """

    code: int
    cpu: float
    wall: float
    megabytes: float


def waited(pid: int, seconds: float) -> Ending:
    """Wait for a child that has just begun. Kill it if it has not ended after `seconds`."""
    began = time.monotonic()
    descriptor = os.pidfd_open(pid)
    try:
        has_ended = bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
    if not has_ended:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - began
    return Ending(os.waitstatus_to_exitcode(status), cpu, wall, usage.ru_maxrss / 1000)
