"""What a lane may do to everything around it: each other lane has its result, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ending import ends

from fuzzer.isolate import script
from fuzzer.isolate.child_process import ENDED_WITH_ZYGOTE
from fuzzer.isolate.executor import Bounds, Executor
from fuzzer.isolate.selftest import SHORT
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.system import confinement, process_tree, strays
from fuzzer.system.environment import MachineLacks
from fuzzer.system.free_space import free_bytes
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Case
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Cause, Died, Outcome, Raised, Ran, Skipped, Stage, TimedOut, facts_of

pytestmark = pytest.mark.tvm

UNCONFINED = replace(HOST, environment={confinement.USER: confinement.EVERYWHERE})


def faulty(sin: str, name: str = "") -> LaneSpec:
    return LaneSpec(name or f"faulty-{sin}", Engine.FAULTY, variant=sin)


def rested(executor: Executor) -> Executor:
    """Without children that wait for another case."""
    while executor._idle:
        executor._idle.pop().close()
    return executor


def numbered(number: int) -> Case:
    """The case of the self-test with other numbers."""
    case = sine()
    return replace(case, tensors={name: np.full_like(array, number) for name, array in case.tensors.items()})


@pytest.fixture(scope="module")
def unconfined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    """An executor as on a kernel without Landlock: its children may delete and kill what they like."""
    with Executor(tmp_path_factory.mktemp("unconfined") / "scratch", UNCONFINED) as executor:
        yield executor


SURROUNDINGS = ("scratch", "scratch_file", "scratch_link", "nested", "pipe", "folder_link", "log", "zygote", "files")


@pytest.mark.parametrize("sin", SURROUNDINGS)
@pytest.mark.long
def test_what_a_lane_does_to_its_surroundings_costs_no_other_its_result(unconfined: Executor, sin: str) -> None:
    """It deletes or replaces all scratch folders, cuts the log, kills the zygote, or leaves files open."""
    first = {"log": Died, "zygote": Skipped, "pipe": Died}.get(sin, Ran)
    _costs_no_other_its_result(unconfined, sin, first)


@pytest.mark.parametrize("sin", SURROUNDINGS)
def test_so_it_is_where_the_kernel_confines_the_lane(executor: Executor, sin: str) -> None:
    if confinement.version() < confinement.SIGNALS:
        pytest.skip(confinement.in_words(confinement.version()))
    first = {"log": Died, "pipe": Died, "nested": Ran, "files": Ran}.get(sin, Raised)
    _costs_no_other_its_result(executor, sin, first)


def _costs_no_other_its_result(executor: Executor, sin: str, first: type[Outcome]) -> None:
    lanes = (faulty("honest", "before"), faulty(sin), faulty("files", "after"), faulty("honest", "last"))
    outcomes = rested(executor).run(sine(), lanes, Bounds()).outcomes
    assert [type(outcomes[lane]) for lane in lanes] == [Ran, first, Ran, Ran]
    assert not executor._idle or sin != "files", "a process with many open files runs no other case"
    again = executor.run(numbered(1), lanes[:1], Bounds()).outcomes
    assert isinstance(again[lanes[0]], Ran)


def test_what_a_lane_leaves_running_ends_with_its_process(executor: Executor) -> None:
    """It has a session of its own, and its parent has ended."""
    lane = faulty("daemon")
    ran = rested(executor).run(sine(), (lane,), Bounds()).outcomes[lane]
    assert isinstance(ran, Ran)
    assert ends(int(ran.outputs[0]))
    assert not executor._idle, "a process that has left others runs no other case"


@pytest.mark.long
def test_a_process_without_an_environment_ends_after_the_zygote_was_killed(tmp_path: Path) -> None:
    """No child is asked for after it, so the end of the executor has to end it."""
    with Executor(tmp_path / "scratch", UNCONFINED) as executor:
        ended = executor.run(sine(), (faulty("orphan"),), Bounds()).outcomes[faulty("orphan")]
        assert ended == ENDED_WITH_ZYGOTE
        marked = list(strays.working_in(tmp_path / "scratch"))
    assert marked, "the last one lives until the executor is closed"
    assert all(map(ends, marked))


@pytest.mark.parametrize(
    ("sin", "outcome"),
    [
        ("abort", Died),
        ("overflow", Died),
        ("closes", Died),
        ("garbage", Died),
        ("lies", Died),
        ("half", TimedOut),
        ("slow", TimedOut),
        ("deaf", TimedOut),
        ("hang_in_c", TimedOut),
        ("huge", Raised),
        ("prints", Ran),
    ],
)
def test_an_abuse_costs_no_other_lane_its_result(executor: Executor, sin: str, outcome: type[Outcome]) -> None:
    lanes = (faulty("honest", "before"), faulty(sin), faulty("honest", "after"))
    bounds = Bounds(wall_seconds=1.5, cpu_seconds=1.5) if outcome is TimedOut else Bounds()
    outcomes = executor.run(sine(), lanes, bounds).outcomes
    assert [type(outcomes[lane]) for lane in lanes] == [Ran, outcome, Ran]


def test_a_lane_that_begins_again_and_again_has_one_clock(executor: Executor) -> None:
    """It names itself, as the second lane of a fresh process; or another lane, where it is the only one."""
    lanes = (faulty("honest", "before"), faulty("starts"), faulty("honest", "after"))
    bounds = Bounds(wall_seconds=1.5, cpu_seconds=1.5)
    outcomes = executor.run_fresh(sine(), lanes, bounds).outcomes
    assert [type(outcomes[lane]) for lane in lanes] == [Ran, TimedOut, Ran]
    first = executor.run_fresh(sine(), lanes[1:], bounds).outcomes
    assert [type(first[lane]) for lane in lanes[1:]] == [Died, Ran], "it has no right to end the lane after it"


@pytest.mark.parametrize(
    ("sin", "bounds", "why"),
    [
        ("forks", Bounds(threads=20), "more than 20 processes and threads"),
        ("threads", Bounds(threads=40), "more than 40 processes and threads"),
        ("hog", Bounds(memory_bytes=1 << 30), "more than 1024 MiB"),
        ("gulp", Bounds(memory_bytes=1 << 30), "more than 1024 MiB"),
    ],
)
def test_processes_below_a_lane_count_as_the_lane(executor: Executor, sin: str, bounds: Bounds, why: str) -> None:
    before = set(process_tree.descendants(os.getpid()))
    lanes = (faulty("honest", "before"), faulty(sin), faulty("honest", "after"))
    outcomes = executor.run_fresh(sine(), lanes, bounds).outcomes
    assert outcomes[lanes[1]] == Died(Stage.COMPILE, Cause.MEMORY, signal.SIGKILL, why, facts_of(outcomes[lanes[1]]))
    assert all(isinstance(outcomes[lane], Ran) for lane in (lanes[0], lanes[2]))
    assert all(map(ends, set(process_tree.descendants(os.getpid())) - before))


@pytest.mark.long
def test_what_a_lane_left_ends_when_the_zygote_is_killed(executor: Executor) -> None:
    hanging = threading.Thread(target=lambda: executor.run_fresh(sine(), (faulty("hog"),), SHORT))
    hanging.start()
    zygote = executor._zygote.pid
    for _ in range(200):
        if below := [pid for child in process_tree.children(zygote) for pid in process_tree.children(child)]:
            break
        time.sleep(0.05)
    os.kill(zygote, signal.SIGKILL)
    hanging.join(300)
    assert not hanging.is_alive()
    assert all(map(ends, below))


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of its own of 64 MiB."""
    where = tmp_path_factory.mktemp("disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", where], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "--lazy", where], check=True)


FULL = "less than 0.03 GB of the disk are free"


@pytest.mark.programs("mount", "umount")
def test_a_lane_that_fills_the_disk_is_ended(small_disk: Path) -> None:
    lanes = (faulty("honest", "before"), faulty("fills"), faulty("honest", "after"))
    with Executor(small_disk / "scratch") as executor:
        outcomes = executor.run(sine(), lanes, Bounds(disk_reserve=30_000_000)).outcomes
        assert [type(outcomes[lane]) for lane in lanes] == [Ran, Skipped, Ran]
        assert outcomes[lanes[1]] == Skipped(FULL, environment=True)
        assert free_bytes(small_disk) > 60_000_000, "what it wrote is deleted"


@pytest.mark.programs("mount", "umount")
def test_a_script_that_fills_the_disk_is_ended(small_disk: Path) -> None:
    source = "import os, time\nos.posix_fallocate(os.open('x', os.O_CREAT | os.O_WRONLY), 0, 40 << 20)\ntime.sleep(600)"
    with pytest.raises(MachineLacks, match=FULL):
        script.run(source, HOST, Bounds(disk_reserve=30_000_000), small_disk / "scripts")
    assert free_bytes(small_disk) > 60_000_000
