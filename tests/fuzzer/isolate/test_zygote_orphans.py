"""A supervisor that is killed takes its zygote and their children with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.tvm

SUPERVISOR = """
    import sys, threading
    from pathlib import Path
    from fuzzer.isolate.executor import Executor
    from fuzzer.isolate.sine_case import sine_case
    from oracles.lane import Engine, LaneSpec

    with Executor(Path(sys.argv[1])) as executor:
        print(executor._zygote.pid, flush=True)
        lane = LaneSpec("hang", Engine.FAULTY, variant="hang")
        executor.run(sine_case(), (lane,))
"""


def alive(pid: int) -> bool:
    """Neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_supervisor_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SUPERVISOR), str(tmp_path / "scratch")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        try:
            assert supervisor.stdout is not None
            zygote = int(supervisor.stdout.readline())
            child = wait_for_child(zygote)
            assert alive(zygote)
            assert alive(child)
        finally:
            os.kill(supervisor.pid, signal.SIGKILL)
    end = time.monotonic() + 5
    while (left := [pid for pid in (zygote, child) if alive(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == []


def wait_for_child(zygote: int) -> int:
    children, end = Path(f"/proc/{zygote}/task/{zygote}/children"), time.monotonic() + 10
    while not (found := children.read_text().split()) and time.monotonic() < end:
        time.sleep(0.05)
    (child,) = found
    return int(child)
