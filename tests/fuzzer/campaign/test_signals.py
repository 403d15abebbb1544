"""Signals that a process really gets."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzzer.campaign.run.signals import Pause
from fuzzer.campaign.store.pause_switch import PauseSwitch

pytestmark = pytest.mark.slow

CHILD = """
import os, time
from fuzzer.campaign.run.signals import on_first_signal

times = iter({times})

def say(word):  # a signal may come while it writes: print would refuse a call within a call
    os.write(1, word)

def clock():
    say(b"signal\\n")
    return next(times)

on_first_signal(lambda: say(b"stop\\n"), clock)
say(b"ready\\n")
while True:
    time.sleep(60)
"""


def _take_hangups() -> None:
    """Also where the tests themselves run under nohup(1)."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Child:
    """A process whose clock shows the given seconds, one at each signal."""

    def __init__(self, times: list[float]) -> None:
        code = CHILD.format(times=times)
        command = [sys.executable, "-c", code]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=_take_hangups)
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def send(self, number: signal.Signals) -> None:
        """Returns when the process has noticed."""
        self.process.send_signal(number)
        assert self.line() == "signal"


@pytest.fixture
def child(request: pytest.FixtureRequest) -> Iterator[Child]:
    made = Child(request.param)
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.mark.parametrize("child", [[10.0, 10.2, 10.9]], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_comes_within_a_second_is_one_request(child: Child, number: signal.Signals) -> None:
    """As `timeout` sends it, to the group and to its child."""
    child.send(number)
    assert child.line() == "stop"
    child.send(number)
    child.send(signal.SIGINT)
    assert child.process.poll() is None


@pytest.mark.parametrize("child", [[10.0, 10.2, 11.5]], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_comes_later_ends_the_process_at_once(child: Child, number: signal.Signals) -> None:
    child.send(signal.SIGTERM)
    assert child.line() == "stop"
    child.send(number)
    child.send(number)
    assert child.process.wait() == -number


def test_nohup_keeps_a_run_from_ending_with_its_terminal() -> None:
    """nohup(1) ignores SIGHUP and becomes the command."""
    nohup = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", nohup, sys.executable, "-c", CHILD.format(times=[])]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            ignored = re.search(r"SigIgn:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
            assert ignored is not None
            assert int(ignored[1], 16) & 1 << signal.SIGHUP - 1
        finally:
            process.kill()


# --- pause

WORKER = """
import os, sys, threading, time
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.run.signals import Pause

switch = PauseSwitch()
pause = Pause(switch, lambda text: os.write(1, f"{text}\\n".encode()))  # a handler may interrupt a print

def work():
    while True:
        with switch.run(lambda: False):
            print("run", flush=True)
            time.sleep(float(sys.argv[1]))
            print("ran", flush=True)

threading.Thread(target=work, daemon=True).start()
while True:
    time.sleep(0.02)
    if switch.is_idle:
        pause.rest()
"""


def state_of(pid: int) -> str:
    """As proc(5) has it: T is stopped by a signal."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_process_stops_between_two_runs_and_goes_on() -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER, "0.3"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = map(str.strip, process.stdout)
            assert next(lines) == "run"
            process.send_signal(signal.SIGTSTP)
            assert next(lines) == "pausing as soon as the current runs have ended"
            assert next(lines) == "ran"
            assert next(lines) == "paused; SIGCONT (fg, kill -CONT) continues"
            deadline = time.monotonic() + 120
            while state_of(process.pid) != "T":
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(signal.SIGCONT)
            assert [next(lines), next(lines), next(lines)] == ["continuing", "run", "ran"]
        finally:
            process.kill()


def test_who_changes_his_mind_is_not_stopped() -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER, "3"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = map(str.strip, process.stdout)
            assert next(lines) == "run"
            process.send_signal(signal.SIGTSTP)
            assert next(lines) == "pausing as soon as the current runs have ended"
            process.send_signal(signal.SIGCONT)
            assert [next(lines) for _ in range(3)] == ["continuing", "ran", "run"]
        finally:
            process.kill()


def test_a_request_to_continue_during_the_pausing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other signal's handler runs in the middle of the first one's."""
    handlers: dict[int, Callable[[int, object], None]] = {}
    monkeypatch.setattr("fuzzer.campaign.run.signals.signal.signal", handlers.__setitem__)
    switch, messages = PauseSwitch(), list[str]()

    def tell(text: str) -> None:
        messages.append(text)
        if text.startswith("pausing"):
            handlers[signal.SIGCONT](signal.SIGCONT, None)

    Pause(switch, tell)
    handlers[signal.SIGTSTP](signal.SIGTSTP, None)
    assert messages == ["pausing as soon as the current runs have ended", "continuing"]
    assert not switch.is_set
