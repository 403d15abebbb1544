"""Run a Python script in a separate process of a toolchain, within bounds: a new interpreter, or a child of a zygote.

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
from collections.abc import Callable
from pathlib import Path

from fuzzer.isolate.child_process import Bounds, ChildReaper, Reaper, ZygoteGone
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system import files, process_tree, processes, strays
from fuzzer.system.child_environment import anonymous
from fuzzer.toolchains.toolchain import Toolchain, own_environment
from oracles.lane import LaneSpec
from oracles.targets import TARGETS_BY_NAME

POLL_SECONDS = 0.1
GRACE_SECONDS = 30.0
"""How long a script may take to end after it was killed."""

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


Start = Callable[[Path], tuple[int, Reaper]]
"""Starts a process that runs a file in the folder of the file, as the leader of a process group; gives its pid."""


def run(source: str, toolchain: Toolchain, bounds: Bounds, folder: Path) -> ScriptRun:
    """Run a script; return how it ended. `bounds` are the bounds of one lane."""
    return run_started(source, lambda path: _in_new_interpreter(path, toolchain), bounds, folder)


def run_started(source: str, start: Start, bounds: Bounds, folder: Path) -> ScriptRun:
    """Run a script in a process that `start` starts. It gets what `run` gives to a script. Raise `ZygoteGone` if the
    zygote of the process ends while the script runs."""
    files.make_own_folder(folder)
    folder = folder.resolve()  # the script runs in another working directory
    with tempfile.TemporaryDirectory(prefix="script-", dir=folder, ignore_cleanup_errors=True) as scratch:
        path = Path(scratch, "repro.py")
        path.write_text(source)
        pid, reaper = start(path)
        try:
            return _watched(pid, reaper, bounds)
        finally:
            reaper.close()
            strays.kill_strays(Path(scratch), os.getpid())  # what it started and left


def can_be_forked(lane: LaneSpec, toolchain: Toolchain) -> bool:
    """Whether a child of the zygote can run the script of a finding on this lane.

    A zygote has no GPU, is started without a sanitizer, and has executed its preloaded file already.
    """
    return toolchain.preload is None and TARGETS_BY_NAME[lane.target].runs.in_plain_process


def _in_new_interpreter(path: Path, toolchain: Toolchain) -> tuple[int, Reaper]:
    """Start the toolchain's interpreter on a file."""
    preloaded = [toolchain.preload.path] if toolchain.preload else []
    folder = path.parent
    variables = {"TMPDIR": str(folder), "OMP_NUM_THREADS": "1", "TVM_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [toolchain.python if not toolchain.is_host else sys.executable, "-c", _LAUNCHER, str(path), *preloaded],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**own_environment(toolchain, anonymous(folder)), **variables},
        process_group=0,
    )
    strays.mark(process.pid, folder)
    return process.pid, ChildReaper(process)


def _watched(pid: int, reaper: Reaper, bounds: Bounds) -> ScriptRun:
    """Wait until the process ends, and kill it where it exceeds a bound.

    A process that the script started and that takes too much memory is killed at once, but the script continues: the
    memory may be the bug that it shows."""
    seconds, why = START_SECONDS + RUNS * bounds.wall_seconds, ""
    deadline = time.monotonic() + seconds
    while (ending := reaper.ending(POLL_SECONDS)) is None and not why:
        if processes.resident_bytes(pid) > bounds.memory_bytes:
            why = f"it took more than {bounds.memory_bytes >> 20} MiB"
        for child in process_tree.descendants(pid):
            if processes.resident_bytes(child) > bounds.memory_bytes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        if time.monotonic() > deadline:
            why = f"it took more than {seconds:.0f} s"
        if why:
            process_tree.kill(pid)
    ending = ending or reaper.ending(GRACE_SECONDS)
    if ending is None:
        return ScriptRun(None, why or "it cannot be killed")
    if ending.with_zygote and not why:
        raise ZygoteGone
    exit_code = None if why else os.waitstatus_to_exitcode(ending.status)
    return ScriptRun(exit_code, why, ending.cpu)
