"""The end of a child process, and what it has used."""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass

from fuzzer.isolate.running_job import POLL_SECONDS
from fuzzer.system.process_clock import ProcessClock


@dataclass(frozen=True, slots=True)
class Ending:
    """code       the exit code, or minus the number of the signal
    cpu, wall  seconds; `wall` without those in which it waited for a processor
    megabytes  the most memory of the process
    """

    code: int
    cpu: float
    wall: float
    megabytes: float


def waited(pid: int, seconds: float) -> Ending:
    """Wait for a child that has just begun. Kill it if it has not ended after `seconds`. What it, and processes below
    it, wait for a processor does not count."""
    clock = ProcessClock(pid)
    descriptor = os.pidfd_open(pid)
    try:
        while not (has_ended := bool(select.select([descriptor], [], [], POLL_SECONDS)[0])):
            if clock.is_over(seconds):
                break
    finally:
        os.close(descriptor)
    wall = clock.own_seconds()
    if not has_ended:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return Ending(os.waitstatus_to_exitcode(status), cpu, wall, usage.ru_maxrss / 1000)
