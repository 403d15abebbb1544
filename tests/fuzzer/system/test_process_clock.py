"""Clocks for bounds of wall time: what they leave out."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from fuzzer.system import process_tree
from fuzzer.system.process_clock import LEAST_SECONDS, STOPPED_SECONDS, Clock, ProcessClock

SPIN = "while True: pass"
WAIT = "import time; time.sleep(600)"


def test_a_clock_leaves_out_the_time_in_which_its_process_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 100.5, 101.5, 500.0, 500.25])
    monkeypatch.setattr("fuzzer.system.process_clock.time.monotonic", lambda: next(times))
    clock = Clock()
    assert [(clock.seconds(), clock.was_stopped) for _ in range(4)] == [
        (0.5, False),
        (1.5, False),
        (1.5 + STOPPED_SECONDS, True),
        (1.75 + STOPPED_SECONDS, False),
    ]


def own_seconds(monkeypatch: pytest.MonkeyPatch, *waits: dict[int, float]) -> list[float]:
    """What a clock says each second, where the threads of its process have waited so long when it is made, and then."""
    seconds, left = iter(range(100)), iter(waits)
    monkeypatch.setattr("fuzzer.system.process_clock.time.monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr("fuzzer.system.process_tree.waits", lambda pid: next(left))
    clock = ProcessClock(1)
    return [clock.own_seconds() for _ in waits[1:]]


def test_what_a_process_waited_for_a_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_seconds(monkeypatch, {1: 7.0}, {1: 7.5}, {1: 7.5}, {1: 8.5}) == [0.5, 1.5, 1.5]


def test_of_threads_that_wait_at_once_the_longest_wait_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_seconds(monkeypatch, {1: 0.0}, {1: 0.5, 2: 0.25, 3: 0.5}, {1: 0.5}) == [0.5, 1.5]


def test_no_process_saves_up_what_it_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the clock's own process was stopped meanwhile."""
    assert own_seconds(monkeypatch, {1: 0.0}, {1: 50.0}, {1: 50.0}) == [0.0, 1.0]


def test_a_thread_that_ended_and_one_with_its_number_that_waited_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_seconds(monkeypatch, {1: 0.0, 2: 5.0}, {1: 0.0, 2: 0.5}, {}) == [1.0, 2.0]


def test_the_time_to_wait_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("fuzzer.system.process_clock.time.monotonic", lambda: now[0])
    monkeypatch.setattr("fuzzer.system.process_tree.waits", lambda pid: {1: now[0]})
    clock = ProcessClock(1)
    why: list[str] = []
    while now[0] < LEAST_SECONDS + 1:
        now[0] += 1
        assert not clock.is_over(10.0)
        why.append(clock.why_short(10.0))
    assert set(why[:-1]) == {""}
    assert why[-1] == "the machine is too busy: a process waited 121 s of 121 s for a processor"


@pytest.mark.parametrize("below", [False, True])
def test_a_real_process_waits_where_others_have_its_processor(below: bool) -> None:
    """Also one that a process started which itself does nothing."""
    spin = [sys.executable, "-c", SPIN]
    start = [sys.executable, "-c", f"import subprocess; subprocess.run({spin!r})"]
    processes = [subprocess.Popen(command) for command in (start if below else spin, spin, spin)]
    first = processes[0].pid
    try:
        while below and not process_tree.children(first):
            time.sleep(0.01)
        for process in processes:
            for pid in (process.pid, *process_tree.descendants(process.pid)):
                os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})
        clock = ProcessClock(first)
        while clock.seconds() < 2.0:
            time.sleep(0.05)
            own = clock.own_seconds()
        assert own < 0.75 * clock.seconds()
    finally:
        for process in processes:
            process_tree.kill(process.pid)
        for process in processes:
            process.wait()


def test_a_real_process_that_sleeps_waits_for_no_processor() -> None:
    with subprocess.Popen([sys.executable, "-c", WAIT]) as process:
        try:
            while process_tree.cpu_seconds(process.pid) == 0.0:
                time.sleep(0.01)
            time.sleep(0.5)
            clock = ProcessClock(process.pid)
            while clock.seconds() < 1.0:
                time.sleep(0.05)
                own = clock.own_seconds()
            assert own > clock.seconds() / 2
        finally:
            process.kill()
