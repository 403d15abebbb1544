"""Small Linux facts about processes that the standard library does not offer."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
from pathlib import Path

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVM_NUM_THREADS"), "1")
"""Variables with which a process computes with one thread: the same bits in each run, and no thread before a fork."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_PDEATHSIG = 1
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # malloc.h


def die_with_parent(parent: int, how: signal.Signals = signal.SIGKILL) -> None:
    """A signal for this process when the parent's thread that made it ends (prctl(2)). Exits if it is gone already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(how), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def kill_group(pid: int) -> None:
    """End a process and everything it started, even where the leader itself has gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def keep_memory_tight() -> None:
    """For a process that runs for weeks, before its threads start: one heap for all of them, and large blocks, tensors
    most of all, mapped and unmapped one by one (mallopt(3)). Otherwise glibc gives each thread a heap of its own, and
    takes ever larger blocks from these, where what outlives them keeps holes from closing."""
    with contextlib.suppress(AttributeError):  # not every C library has it
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 128 << 10)  # its default, which said so does not move


def give_back_memory() -> None:
    """What was freed, and the C library still holds between blocks in use, goes back to the system (malloc_trim(3))."""
    with contextlib.suppress(AttributeError):  # not every C library has it, or needs it
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes(pid: int) -> int:
    """Resident memory; 0 where the process has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def cpu_seconds(pid: int) -> float:
    """User and system time, of waited-for children too; 0 where the process has gone (proc(5), fields 14 to 17)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def own_cpu_seconds(pid: int) -> float:
    """Like `cpu_seconds`, without the children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS


def start_time(pid: int) -> int:
    """Clock ticks since boot at which the process started; with the pid it names a process for good. 0: gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def timeval(seconds: float) -> bytes:
    """What the socket options SO_RCVTIMEO and SO_SNDTIMEO take (socket(7)); rounded up to whole seconds."""
    return struct.pack("ll", int(seconds) + 1, 0)
