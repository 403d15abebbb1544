"""The pause switch: which runs may begin, and when no lane runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fuzzer.campaign.store.pause_switch import PauseSwitch


def never() -> bool:
    return False


def goes_through(switch: PauseSwitch, give_up: Callable[[], bool] = never) -> tuple[threading.Thread, list[bool]]:
    admissions: list[bool] = []

    def go() -> None:
        with switch.run(give_up) as admitted:
            admissions.append(admitted)

    thread = threading.Thread(target=go)
    thread.start()
    return thread, admissions


def test_runs_begin_while_it_is_not_set() -> None:
    switch = PauseSwitch()
    with switch.run(never) as one, switch.run(never) as other:
        assert one
        assert other
    assert not switch.is_idle


def test_a_run_waits_until_there_is_no_reason() -> None:
    switch = PauseSwitch()
    switch.set("disk")
    switch.set("asked")
    thread, admissions = goes_through(switch)
    switch.clear("disk")
    thread.join(0.3)
    assert (admissions, thread.is_alive()) == ([], True)
    switch.clear("asked")
    thread.join()
    assert admissions == [True]


def test_it_is_idle_when_the_last_run_has_ended() -> None:
    switch = PauseSwitch()
    with switch.run(never):
        switch.set("asked")
        assert not switch.is_idle
    assert switch.is_idle


def test_a_run_that_gives_up_does_not_begin() -> None:
    switch, over = PauseSwitch(), threading.Event()
    switch.set("asked")
    thread, admissions = goes_through(switch, over.is_set)
    over.set()
    thread.join()
    assert admissions == [False]
    assert switch.is_idle


def test_a_run_that_gave_up_does_not_begin_where_it_could() -> None:
    with PauseSwitch().run(lambda: True) as admitted:
        assert not admitted
