"""A process and the processes below it: what they use, and how to end all of them.

A process whose parent ends belongs to the nearest ancestor that has called `adopt_orphans`, and otherwise to init. So
no process below one that has called it gets away from its tree, whatever sessions and groups it makes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

from fuzzer.system import processes

_PR_SET_CHILD_SUBREAPER = 36
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tree uses: resident bytes, CPU seconds with those of waited-for children, processes, and threads in all of
    them. Memory that several of them share counts for each."""

    resident: int
    cpu: float
    processes: int
    threads: int


def adopt_orphans() -> None:
    """Become the parent of each process below this one whose parent ends (PR_SET_CHILD_SUBREAPER in prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int, threads: int = 0) -> list[int]:
    """The children of a process; none where it has ended. Where it is known to have one thread, only that is read."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in [pid] if threads == 1 else os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # the thread has ended
                found += map(int, processes.text_of(f"/proc/{pid}/task/{task}/children").split())
    return found


def descendants(pid: int) -> Iterator[int]:
    """The children of a process, and their children in turn, however deep."""
    waiting = children(pid)
    while waiting:
        child = waiting.pop()
        yield child
        waiting += children(child)


def usage(pid: int) -> Usage:
    """What a process and its descendants use. The supervisor asks ten times a second for each child."""
    found, waiting = list[processes.Used](), [pid]
    while waiting:
        each = waiting.pop()
        found.append(processes.used(each))
        waiting += children(each, found[-1].threads)
    resident, cpu, threads = zip(*found, strict=True)
    return Usage(sum(resident), sum(cpu), len(found), sum(threads))


def cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process and its descendants, with those of waited-for children."""
    return sum(map(processes.cpu_seconds, [pid, *descendants(pid)]))


def waits(pid: int) -> dict[int, float]:
    """How long each thread of a process and of its descendants has waited for a processor since it began, in
    seconds."""
    return {thread: waited for each in (pid, *descendants(pid)) for thread, waited in processes.waits(each).items()}


def proportional_bytes(pid: int) -> int:
    """The memory of a process and its descendants. What they share counts once. Takes milliseconds for each."""
    return sum(map(processes.proportional_bytes, [pid, *descendants(pid)]))


def kill(pid: int) -> None:
    """Kill a process, its group and its descendants. They are stopped first, so that none of them forks meanwhile."""
    stopped: set[int] = set()
    deadline = time.monotonic() + _END_SECONDS
    while (running := {pid, *descendants(pid)} - stopped) and time.monotonic() < deadline:
        for each in running:
            _signal(each, signal.SIGSTOP)
        stopped |= running
    processes.kill_group(pid)
    for each in stopped:
        _signal(each, signal.SIGKILL)


def kill_children(pid: int) -> None:
    """Kill the descendants of a process, which itself goes on."""
    for child in children(pid):
        kill(child)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
