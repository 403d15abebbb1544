"""Run a Python script in a separate process, with a toolchain's interpreter and within bounds.

The script gets the user's environment without secrets, and an empty folder for its files. Only its exit code is used;
what it prints is dropped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system import processes
from fuzzer.toolchains.toolchain import Toolchain, own_environment

POLL_SECONDS = 0.1
START_SECONDS = 60.0
"""Time that a script gets to import torch and TVM on a busy machine."""

RUNS = 8
"""How often a script may repeat what failed."""

_LAUNCHER = """
import ctypes, os, resource, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end with the thread that started this process
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.execv(sys.executable, [sys.executable, "-P", *sys.argv[1:]])
"""


def run(source: str, toolchain: Toolchain, bounds: Bounds, folder: Path) -> tuple[ScriptRun, float]:
    """Run a script; return how it ended, and the CPU seconds that it took. `bounds` are the bounds of one lane."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()  # the script runs in another working directory
    with tempfile.TemporaryDirectory(prefix="script-", dir=folder, ignore_cleanup_errors=True) as scratch:
        path = Path(scratch, "repro.py")
        path.write_text(source)
        preloaded = [toolchain.preload.path] if toolchain.preload else []
        process = subprocess.Popen(
            [toolchain.python if not toolchain.is_host else sys.executable, "-c", _LAUNCHER, str(path), *preloaded],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=scratch,
            env={**own_environment(toolchain), "TMPDIR": scratch, "OMP_NUM_THREADS": "1", "TVM_NUM_THREADS": "1"},
            process_group=0,
        )
        why = _watched(process.pid, bounds)
        processes.kill_group(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        return ScriptRun(None, why) if why else ScriptRun(process.returncode), cpu


def _watched(pid: int, bounds: Bounds) -> str:
    """Wait until the process ends, without collecting its status. Return "", or why it must be killed.

    A process that the script started and that takes too much memory is killed at once, but the script continues: the
    memory may be the bug that it shows."""
    seconds = START_SECONDS + RUNS * bounds.wall_seconds
    deadline = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if processes.resident_bytes(pid) > bounds.memory_bytes:
            return f"it took more than {bounds.memory_bytes >> 20} MiB"
        for child in _descendants(pid):
            if processes.resident_bytes(child) > bounds.memory_bytes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        if time.monotonic() > deadline:
            return f"it took more than {seconds:.0f} s"
        time.sleep(POLL_SECONDS)
    return ""


def _descendants(pid: int) -> Iterator[int]:
    """The children of a process, and their children in turn."""
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield int(child)
            yield from _descendants(int(child))
