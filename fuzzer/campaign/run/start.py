"""The start of a campaign: starts the compilers, runs the self-test, and installs the signal handlers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.signals import Pause, on_first_signal
from fuzzer.isolate.child_process import GaveUp
from fuzzer.isolate.fleet import Backend, BackendKey, Fleet
from fuzzer.isolate.selftest import self_test, why_skipped
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.terminal import say
from fuzzer.toolchains.toolchain import HOST_NAME
from oracles.lane import LaneSpec

WARM_UP = "warm-up: starting the compilers, checking that failures are recognised ..."
"""What is printed before the warm-up. From then on, a signal ends the command well."""


def to_stop() -> threading.Event:
    """An event that is set by a signal to stop while the compilers start."""
    stop_requested = threading.Event()

    def stop() -> None:
        stop_requested.set()
        say("stopping; no test has begun (once more to stop at once)")

    on_first_signal(stop)
    return stop_requested


def warm_up(
    executor: Fleet, others: Sequence[str], stop_requested: threading.Event, own: Sequence[LaneSpec] = ()
) -> None:
    """Start the compilers side by side, then run the self-test. `own` are the lanes of the user's own passes, which
    must be registered. No further step begins after `stop_requested` is set."""
    steps: list[Callable[[], object]] = [
        lambda: _start(executor, others),
        lambda: require_recognised_failures(executor),
        lambda: require_registered(executor, own),
    ]
    try:
        for step in steps:
            if not stop_requested.is_set():
                step()
    except GaveUp:
        pass  # it was asked to stop
    except EnvironmentMissing:
        if not stop_requested.is_set():  # the same Ctrl-C may have ended a compiler that was starting
            raise


def _start(executor: Fleet, others: Sequence[str]) -> None:
    """Start a zygote for each toolchain side by side. It sends its version of TVM."""
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        starting = [beside.submit(executor.backend, BackendKey(name)) for name in others]
        executor.backend(BackendKey(HOST_NAME))
        for each in starting:
            each.result()


def require_recognised_failures(executor: Backend) -> None:
    """Run the self-test. Raise `EnvironmentMissing` where it fails, because a campaign would miss bugs."""
    failed = [check for check in self_test(executor) if not check.passed]
    if failed:
        listed = ", ".join(
            f"{c.misbehaviour}: {c.found or 'no finding'} instead of {c.expected or 'nothing'}" for c in failed
        )
        raise EnvironmentMissing(f"the self-test failed ({listed}); `fuzz doctor` shows more")


def require_registered(executor: Backend, lanes: Sequence[LaneSpec]) -> None:
    """Raise `EnvironmentMissing` where a lane's own pass is not registered, because no test would run it."""
    if lanes and (reason := why_skipped(executor, lanes)):
        raise EnvironmentMissing(reason)


def obey_signals(task: Campaign, stop_requested: threading.Event, *also: Callable[[], None]) -> None:
    """Install the handlers that stop and pause the campaign. Stop it at once where `stop_requested` is set. `also` is
    called when it stops."""

    def stop() -> None:
        for each in (task.stop, *also):
            each()
        say("stopping; the next run repeats what is unfinished (once more to stop at once)")

    on_first_signal(stop)
    task.when_idle = Pause(task.pause_switch, say).rest
    if stop_requested.is_set():
        task.stop()
