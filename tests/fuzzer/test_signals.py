"""Signals that a process really gets."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

CHILD = """
import time
from fuzzer.signals import on_first_signal

times = iter({times})

def clock():
    print("signal", flush=True)
    return next(times)

on_first_signal(lambda: print("stop", flush=True), clock)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


class Child:
    """A process whose clock shows the given seconds, one at each signal."""

    def __init__(self, times: list[float]) -> None:
        code = CHILD.format(times=times)
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_comes_within_a_second_is_one_request(child: Child, number: signal.Signals) -> None:
    """As `timeout` sends it, to the group and to its child."""
    child.send(number)
    assert child.line() == "stop"
    child.send(number)
    child.send(signal.SIGINT)
    assert child.process.poll() is None


@pytest.mark.parametrize("child", [[10.0, 10.2, 11.5]], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_comes_later_ends_the_process_at_once(child: Child, number: signal.Signals) -> None:
    child.send(signal.SIGTERM)
    assert child.line() == "stop"
    child.send(number)
    child.send(number)
    assert child.process.wait() == -number
