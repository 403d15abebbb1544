"""Run a Python script in a separate process of a toolchain, within bounds: a new interpreter, or a child of a zygote.

The script gets the user's environment without secrets, and an empty folder for its files. Only its exit code is used;
what it prints is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fuzzer.isolate.child_process import (
    Bounds,
    ChildReaper,
    GaveUp,
    GiveUp,
    Reaper,
    ZygoteGone,
    may_bound_data,
    never,
)
from fuzzer.isolate.reports import ScriptRun
from fuzzer.system import confinement, no_network, process_tree, processes, strays, untrusted_files
from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import MachineLacks
from fuzzer.system.free_memory import FreeMemory
from fuzzer.system.free_space import FreeSpace
from fuzzer.system.process_clock import ProcessClock
from fuzzer.system.processes import ONE_THREAD
from fuzzer.toolchains.toolchain import Toolchain, own_environment
from oracles.lane import LaneSpec
from oracles.targets import Runs, target_named

POLL_SECONDS = 0.1
GRACE_SECONDS = 30.0
"""How long a script may take to end after it was killed."""

START_SECONDS = 60.0
"""Time that a script gets to import torch and TVM on a busy machine."""

RUNS = 8
"""How often a script may repeat what failed."""

_LAUNCHER = """
import ctypes, json, os, runpy, signal, sys
processes, confinement, no_network, allowed, *script = sys.argv[1:]
folders, gpu = json.loads(allowed)
runpy.run_path(processes)["limit_files"]()
runpy.run_path(confinement)["enter"](folders, gpu=gpu)
runpy.run_path(no_network)["enter"](connects=gpu)
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end with the thread that started this process
os.execv(sys.executable, [sys.executable, "-P", *script])
"""

_FILES = [str(module.__file__) for module in (processes, confinement, no_network)]
"""The files that it executes."""

Start = Callable[[Path], tuple[int, Reaper]]
"""Starts a process that runs a file in the folder of the file, as the leader of a session; gives its pid."""


def run(
    source: str,
    toolchain: Toolchain,
    bounds: Bounds,
    folder: Path,
    writes: Sequence[Path] = (),
    give_up: GiveUp = never,
    *,
    targets: Sequence[str] = (),
) -> ScriptRun:
    """Run a script; return how it ended. `bounds` are the bounds of one lane. It writes into its own folder, and into
    those of `writes`. `targets` are those for which it compiles and runs code; none stands for plain processors."""
    python = Path(sys.executable if toolchain.is_host else toolchain.python)
    preloaded = [toolchain.preload.path] if toolchain.preload else []

    def start_it(path: Path) -> tuple[int, Reaper]:
        variables = {**own_environment(toolchain, anonymous(path.parent)), **ONE_THREAD}
        return start(path, python, variables, preloaded, writes, gpu=any(map(needs_gpu, targets)))

    return run_started(source, start_it, bounds, folder, targets, give_up)


def run_started(
    source: str, start: Start, bounds: Bounds, folder: Path, targets: Sequence[str], give_up: GiveUp = never
) -> ScriptRun:
    """Run a script in a process that `start` starts. It gets what `run` gives to a script. Raise `ZygoteGone` if the
    zygote of the process ends while the script runs, `MachineLacks` where the machine lacks something, and `GaveUp` if
    `give_up` returns True. The kernel bounds its CPU time, and its memory where the `targets` of the script permit
    that."""
    scratch = untrusted_files.new_folder(folder)
    try:
        path = scratch / "repro.py"
        path.write_text(source)
        pid, reaper = start(path)
        try:
            memory, seconds = bounds.memory_bytes if may_bound_data(targets) else None, _most_seconds(bounds)
            processes.bound_by_kernel(pid, memory, seconds * (os.cpu_count() or 1), for_good=True)
            return _watched(pid, reaper, bounds, FreeSpace(scratch, bounds.disk_reserve), give_up)
        finally:
            reaper.close()
            strays.kill_strays(scratch, os.getpid())  # what it started and left
    finally:
        untrusted_files.remove(scratch)


def can_be_forked(source: str, lane: LaneSpec, toolchain: Toolchain) -> bool:
    """Whether a child of the zygote can run the script of a finding on this lane.

    A zygote has no GPU, and is started without a sanitizer. It has executed its preloaded file, which the script does
    not execute again then; processes that the script starts would be without it.
    """
    whole = toolchain.preload is None or "import subprocess\n" not in source
    return whole and target_named(lane.target).runs.in_plain_process


def needs_gpu(target: str) -> bool:
    """Whether a script for the target may need the devices of GPUs, /dev/shm, and the sockets of their drivers."""
    return target_named(target).runs is Runs.ON_A_DEVICE


def start(
    path: Path,
    python: Path,
    variables: Mapping[str, str],
    arguments: Sequence[str] = (),
    writes: Sequence[Path] = (),
    *,
    gpu: bool = False,
) -> tuple[int, Reaper]:
    """Start an interpreter on a file, confined to the folder of the file and those of `writes`. It has a session of its
    own, and so no terminal. `gpu`: it may use the GPUs."""
    folder = path.parent
    allowed = json.dumps([[str(each) for each in (folder, *writes)], gpu])
    process = subprocess.Popen(
        [str(python), "-P", "-c", _LAUNCHER, *_FILES, allowed, str(path), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**variables, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    strays.mark(process.pid, folder)
    return process.pid, ChildReaper(process)


def _most_seconds(bounds: Bounds) -> float:
    return START_SECONDS + RUNS * bounds.wall_seconds


def _watched(pid: int, reaper: Reaper, bounds: Bounds, space: FreeSpace, give_up: GiveUp) -> ScriptRun:
    """Wait until the process ends, and kill it where it exceeds a bound. What it waited for a processor does not
    count.

    A process that the script started and that takes too much memory is killed at once, but the script continues: the
    memory may be the bug that it shows."""
    seconds, why, lack, killed = _most_seconds(bounds), "", "", processes.killed_for_memory()
    memory, clock = FreeMemory(), ProcessClock(pid)
    while (ending := reaper.ending(POLL_SECONDS)) is None and not (why or lack):
        if processes.resident_bytes(pid) > bounds.memory_bytes:
            why = f"it took more than {bounds.memory_bytes >> 20} MiB"
        lack = memory.why_short() or space.why_short() or clock.why_short(seconds)
        for child in process_tree.descendants(pid):
            if processes.resident_bytes(child) > bounds.memory_bytes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        if give_up():
            process_tree.kill(pid)
            reaper.ending(GRACE_SECONDS)
            raise GaveUp
        if clock.is_over(seconds):
            why = f"it took more than {seconds:.0f} s"
        if why or lack:
            process_tree.kill(pid)
    ending = ending or reaper.ending(GRACE_SECONDS)
    if ending is None:
        return ScriptRun(None, why or lack or "it cannot be killed")
    if ending.with_zygote and not (why or lack):
        raise ZygoteGone
    if not why and ending.status == signal.SIGKILL and processes.killed_for_memory() > killed:
        lack = lack or processes.SHORT_OF_MEMORY
    if lack and not why:
        raise MachineLacks(lack)
    exit_code = None if why else os.waitstatus_to_exitcode(ending.status)
    return ScriptRun(exit_code, why, ending.cpu)
