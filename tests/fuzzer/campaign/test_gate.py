"""The gate: who is let through, and when nobody is inside."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fuzzer.campaign.gate import Gate


def never() -> bool:
    return False


def goes_through(gate: Gate, give_up: Callable[[], bool] = never) -> tuple[threading.Thread, list[bool]]:
    admissions: list[bool] = []

    def go() -> None:
        with gate.run(give_up) as admitted:
            admissions.append(admitted)

    thread = threading.Thread(target=go)
    thread.start()
    return thread, admissions


def test_an_open_gate_admits_all_threads() -> None:
    gate = Gate()
    with gate.run(never) as one, gate.run(never) as other:
        assert one
        assert other
    assert not gate.is_idle


def test_a_thread_waits_until_no_reason_closes_the_gate() -> None:
    gate = Gate()
    gate.close("disk")
    gate.close("asked")
    thread, admissions = goes_through(gate)
    gate.open("disk")
    thread.join(0.3)
    assert (admissions, thread.is_alive()) == ([], True)
    gate.open("asked")
    thread.join()
    assert admissions == [True]


def test_a_gate_is_idle_when_the_last_thread_has_left() -> None:
    gate = Gate()
    with gate.run(never):
        gate.close("asked")
        assert not gate.is_idle
    assert gate.is_idle


def test_a_thread_that_gives_up_is_not_admitted() -> None:
    gate, over = Gate(), threading.Event()
    gate.close("asked")
    thread, admissions = goes_through(gate, over.is_set)
    over.set()
    thread.join()
    assert admissions == [False]
    assert gate.is_idle


def test_an_open_gate_does_not_admit_a_thread_that_gave_up() -> None:
    with Gate().run(lambda: True) as admitted:
        assert not admitted
