"""Trees of real processes: what they use, and that all of them end."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import pytest
from ending import ends

from fuzzer.system import process_tree

Start = Callable[..., subprocess.Popen[str]]

PARENT = """
    import os, subprocess, sys, time
    from fuzzer.system import process_tree

    process_tree.adopt_orphans()
    leave = "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=2).pid)"
    orphan = int(subprocess.run([sys.executable, "-c", leave], stdout=subprocess.PIPE, text=True).stdout)
    child = subprocess.Popen(["sleep", "60"])
    print(orphan, child.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def start(*command: str, **more: str) -> subprocess.Popen[str]:
        environment = {**os.environ, **more}
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
        return started[-1]

    yield start
    for process in started:
        process_tree.kill(process.pid)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def tree(start: Start) -> tuple[int, list[int]]:
    """A process, and the two below it: one left its session and lost its parent."""
    parent = start(sys.executable, "-c", textwrap.dedent(PARENT))
    assert parent.stdout is not None
    return parent.pid, [int(each) for each in parent.stdout.readline().split()]


def test_an_orphan_stays_in_the_tree(start: Start) -> None:
    pid, below = tree(start)
    assert sorted(process_tree.descendants(pid)) == sorted(below)
    assert process_tree.usage(pid).processes == 3


def test_all_of_a_tree_ends(start: Start) -> None:
    pid, below = tree(start)
    process_tree.kill(pid)
    assert all(map(ends, (pid, *below)))


def test_only_what_is_below_ends(start: Start) -> None:
    pid, below = tree(start)
    process_tree.kill_children(pid)
    assert all(map(ends, below))
    assert not ends(pid, 0.2)


def test_memory_and_time_of_all_count(start: Start) -> None:
    alone = process_tree.usage(os.getpid())
    spins = (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'x = bytearray(1 << 27)\\nwhile True: pass'])"
    )
    other = start(sys.executable, "-c", spins)
    for _ in range(3_000):
        used = process_tree.usage(other.pid)
        if used.processes == 2 and used.resident > 1 << 27 and used.cpu > 0.2:
            break
        time.sleep(0.05)
    assert used.processes == 2
    assert used.resident > 1 << 27
    assert used.cpu > 0.2
    assert process_tree.usage(os.getpid()).processes == alone.processes + 2


def test_a_process_that_has_ended_uses_nothing() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert process_tree.usage(gone.pid) == process_tree.Usage(0, 0.0, 1, 0)
    assert process_tree.children(gone.pid) == []
