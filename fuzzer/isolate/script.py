"""Runs a Python script in a process of its own, in a toolchain's interpreter, under bounds.

The script gets the user's environment without secrets, and an empty folder for what it writes. What it prints is not
kept: its exit code is the answer.
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
from dataclasses import dataclass
from pathlib import Path

from fuzzer.isolate.child_process import Bounds
from fuzzer.system import processes
from fuzzer.toolchains.toolchain import Toolchain, own_environment

POLL_SECONDS = 0.1
START_SECONDS = 60.0
"""What a script may take to import torch and TVM on a busy machine."""

RUNS = 8
"""So many times a script may repeat what failed."""

SHOWS = 1
"""The exit code of a script that shows its bug."""

_IN_ITS_PLACE = """
import ctypes, os, resource, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # it ends with the thread that started it
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.execv(sys.executable, [sys.executable, "-P", *sys.argv[1:]])
"""


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """`exit_code` as Python's subprocess gives it, negative for a signal; None where the script was not run or did not
    come back, and `why`."""

    exit_code: int | None
    why: str = ""

    @property
    def shows(self) -> bool:
        return self.exit_code == SHOWS

    @property
    def words(self) -> str:
        """What completes the sentence: its repro.py ..."""
        match self.exit_code:
            case 1:
                return "shows the bug"
            case 0:
                return "says that the bug is gone (exit code 0)"
            case 2 | 125:  # scripts wrote 2 for it once
                return f"cannot tell whether the bug is there (exit code {self.exit_code})"
            case None:
                return f"was not run to its end: {self.why}"
            case code:
                return f"ends with {signal.Signals(-code).name}" if code < 0 else f"ends with exit code {code}"


def run(source: str, toolchain: Toolchain, bounds: Bounds, folder: Path) -> tuple[ScriptRun, float]:
    """How the script ends, and the CPU seconds that it took. `bounds` are those of one lane."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="script-", dir=folder, ignore_cleanup_errors=True) as scratch:
        path = Path(scratch, "repro.py")
        path.write_text(source)
        preloaded = [toolchain.preload.path] if toolchain.preload else []
        process = subprocess.Popen(
            [toolchain.python if not toolchain.is_host else sys.executable, "-c", _IN_ITS_PLACE, str(path), *preloaded],
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
    """Wait for the process's end, which stays to be collected; why it is to be killed, or "". Of what it started,
    whatever takes too much memory is killed at once: that may be the very bug that the script shows."""
    seconds = START_SECONDS + RUNS * bounds.wall_seconds
    deadline = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if processes.resident_bytes(pid) > bounds.memory_bytes:
            return f"it took more than {bounds.memory_bytes >> 20} MiB"
        for child in _started_by(pid):
            if processes.resident_bytes(child) > bounds.memory_bytes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        if time.monotonic() > deadline:
            return f"it took more than {seconds:.0f} s"
        time.sleep(POLL_SECONDS)
    return ""


def _started_by(pid: int) -> Iterator[int]:
    """The processes that the process started, and those that these started."""
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield int(child)
            yield from _started_by(int(child))
