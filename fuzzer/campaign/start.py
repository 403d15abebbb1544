"""What comes before a campaign's first test: the compilers are started, the self-test passes, signals are obeyed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.signals import Pause, on_first_signal
from fuzzer.isolate.fleet import Backend, Fleet, Place
from fuzzer.isolate.selftest import self_test
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.terminal import say
from fuzzer.toolchains.toolchain import HOST_NAME


def to_stop() -> threading.Event:
    """Set where somebody wants it to stop while the compilers warm up, which cannot be cut short."""
    stop_requested = threading.Event()

    def stop() -> None:
        stop_requested.set()
        say("stopping as soon as the compilers are warm (once more to stop at once)")

    on_first_signal(stop)
    return stop_requested


def warm_up(executor: Fleet, others: Sequence[str], stop_requested: threading.Event) -> None:
    """What comes before the first test; no more of it than is under way where somebody wants it to stop."""
    steps: list[Callable[[], object]] = [
        lambda: executor.backend(Place(HOST_NAME)),
        lambda: prove_that_failures_are_seen(executor),
        *(partial(executor.backend, Place(name)) for name in others),  # a zygote is started, and says its release
    ]
    try:
        for step in steps:
            if not stop_requested.is_set():
                step()
    except EnvironmentMissing:
        if not stop_requested.is_set():  # else the same Ctrl-C has ended a compiler that was not warm yet
            raise


def prove_that_failures_are_seen(executor: Backend) -> None:
    """Raises `EnvironmentMissing` where the self-test fails: campaigns would miss bugs."""
    failed = [check for check in self_test(executor) if not check.passed]
    if failed:
        listed = ", ".join(f"{c.sin}: {c.seen or 'not seen'} instead of {c.expected or 'nothing'}" for c in failed)
        raise EnvironmentMissing(f"the self-test failed ({listed}); `fuzz doctor` shows more")


def obey_signals(task: Campaign, stop_requested: threading.Event, *also: Callable[[], None]) -> None:
    """Of whoever wants it to stop, or to pause; also what was `stop_requested` while the compilers warmed up."""

    def stop() -> None:
        for each in (task.stop, *also):
            each()
        say("stopping; what is under way is repeated by the next run (once more to stop at once)")

    on_first_signal(stop)
    task.when_idle = Pause(task.gate, say).rest
    if stop_requested.is_set():
        task.stop()
