"""Functions of Linux for processes that the standard library does not offer."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import struct
from pathlib import Path
from typing import NamedTuple

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVM_NUM_THREADS"), "1")
"""Environment variables that make a process compute with one thread: each run gives the same bits, and no thread exists
before a fork."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # malloc.h


def die_with_parent(parent: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send this process a signal when the thread of its parent that started it ends (prctl(2)). Exit if `parent` is no
    longer the parent."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(how), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def outlive_parent() -> None:
    """Undo `die_with_parent`: from now on the process itself notices that its parent has ended."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def forbid_reading() -> None:
    """Forbid other processes of this user to read the memory of this process (PR_SET_DUMPABLE in prctl(2)). Root still
    may. Processes that this one starts are as readable as ever."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


MOST_FILE_BYTES = 4 << 30
"""The largest file that a lane may write. Its log counts with what the supervisor has freed of it."""


def limit_files() -> None:
    """Let this process, and those that it starts, write no core file, and no file above `MOST_FILE_BYTES`
    (setrlimit(2)). A write beyond that fails in Python with EFBIG, and ends other programs with SIGXFSZ."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most == resource.RLIM_INFINITY or most > MOST_FILE_BYTES:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE_BYTES, MOST_FILE_BYTES))


TIMES = 2
"""The kernel's bounds are this many times those that the supervisor looks at: they hold while it does not."""


def bound_by_kernel(pid: int, memory_bytes: int | None, cpu_seconds: float, *, for_good: bool = False) -> None:
    """Let the kernel refuse a process memory, and end it, where it uses `TIMES` as much as this from now on
    (setrlimit(2)). Each process that it starts has the same bounds for itself. None: its memory has no bound.

    By default only the soft limits are set, because they change with each job; a confined process cannot change them
    (`confinement`). `for_good`: the process gets one job only, so that the hard limits are set too."""
    seconds = math.ceil(own_cpu_seconds(pid) + TIMES * cpu_seconds)
    data = None if memory_bytes is None else kilobytes(Path(f"/proc/{pid}/status"), "VmData") + TIMES * memory_bytes
    for kind, most in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_CPU, seconds)):
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):  # it has ended; a smaller hard limit
            _, hard = resource.prlimit(pid, kind)
            soft = hard if most is None else most
            resource.prlimit(pid, kind, (soft, soft if for_good else hard))


def kill_group(pid: int) -> None:
    """Kill a process group, also where its leader has already ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def keep_memory_tight() -> None:
    """Keep glibc from fragmenting the memory of a process that runs for weeks (mallopt(3)). To be called before threads
    start.

    All threads share one heap, and large blocks such as tensors are mapped and unmapped one by one. By default glibc
    gives each thread a heap, and raises the size from which it maps blocks. Long-lived blocks then keep the freed
    memory around them from being returned."""
    with contextlib.suppress(AttributeError):  # not every C library has it
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 128 << 10)  # the default, but a threshold that was set does not grow


def give_back_memory() -> None:
    """Return memory to the system that was freed and that the C library still holds (malloc_trim(3))."""
    with contextlib.suppress(AttributeError):  # not every C library has it, or needs it
        ctypes.CDLL(None).malloc_trim(0)


def text_of(path: str | Path) -> str:
    """The text of a file of proc(5). Raise OSError where the process has ended."""
    with open(path, "rb", buffering=0) as file:  # a campaign reads thousands a second
        return file.readall().decode(errors="replace")


def _stat(pid: int) -> list[str]:
    """The fields of a process from the third one on (proc(5)): its name, the second one, may have any character."""
    return text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()


def resident_bytes(pid: int) -> int:
    """The resident memory of a process; 0 where it has ended."""
    try:
        return int(text_of(f"/proc/{pid}/statm").split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def proportional_bytes(pid: int) -> int:
    """Proportional set size of a process in bytes: a page that several processes share counts once in all. 0 where it
    has ended."""
    return kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss")


def kilobytes(path: Path, name: str) -> int:
    """The bytes that a file of proc(5) gives in kB for a name; 0 where it cannot be read."""
    try:
        lines = text_of(path).splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


SHORT_OF_MEMORY = "the machine had no memory left, and the kernel ended it"


def killed_for_memory() -> int:
    """How many processes the kernel has ended since the machine started, because memory was short (proc(5), vmstat)."""
    return int(
        next((line.split()[1] for line in text_of("/proc/vmstat").splitlines() if line.startswith("oom_kill ")), 0)
    )


def open_files(pid: int) -> int:
    """The number of open descriptors of a process; 0 where it has ended."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def state(pid: int) -> str:
    """The state of a process as one letter, such as R for running and Z for a zombie (proc(5)); empty where it has
    ended."""
    try:
        return _stat(pid)[0]
    except OSError:
        return ""


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of the children that it waited for; 0 where it has ended (proc(5), fields
    14 to 17)."""
    try:
        fields = _stat(pid)
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


class Used(NamedTuple):
    """Resident bytes, CPU seconds with those of waited-for children, and threads of one process."""

    resident: int
    cpu: float
    threads: int


def used(pid: int) -> Used:
    """What a process uses, by one read (proc(5), fields 14 to 17, 20 and 24); zeros where it has ended."""
    try:
        fields = _stat(pid)
    except OSError:
        return Used(0, 0.0, 0)
    return Used(int(fields[21]) * PAGE, sum(map(int, fields[11:15])) / TICKS, int(fields[17]))


def own_cpu_seconds(pid: int) -> float:
    """User and system time of a process without its children; 0 where it has ended."""
    try:
        fields = _stat(pid)
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS


def waits(pid: int) -> dict[int, float]:
    """For each thread of a process, the seconds in which it was ready to run and the kernel ran others (the second
    field of schedstat, Documentation/scheduler/sched-stats.rst of Linux). 0 where the kernel does not count them
    (CONFIG_SCHED_INFO); nothing for what has ended."""
    waited: dict[int, float] = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError, IndexError):  # it has ended
                waited[int(thread)] = int(text_of(f"/proc/{pid}/task/{thread}/schedstat").split()[1]) / 1e9
    return waited


def start_time(pid: int) -> int:
    """When the process started, in clock ticks since boot; 0 where it has ended. Together with the pid it identifies a
    process even after the pid is used again."""
    try:
        return int(_stat(pid)[19])
    except (OSError, IndexError):
        return 0


def timeval(seconds: float) -> bytes:
    """The value of the socket options SO_RCVTIMEO and SO_SNDTIMEO (socket(7)), rounded up to whole seconds."""
    return struct.pack("ll", int(seconds) + 1, 0)
