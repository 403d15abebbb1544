"""The bound of the machine's memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.system import free_memory
from fuzzer.system.free_memory import RESERVE, FreeMemory


def test_it_is_the_memory_that_the_kernel_says() -> None:
    found = free_memory.available_bytes()
    assert found is not None
    assert 0 < found < int(Path("/proc/meminfo").read_text().split()[1]) << 10


@pytest.mark.parametrize("reserve", [0, 1 << 60])
def test_a_machine_with_less_than_the_reserve_is_used_down_to_half(reserve: int) -> None:
    assert FreeMemory(reserve).why_short() == ""


def test_a_machine_that_loses_its_reserve_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available_bytes", lambda: RESERVE)
    memory = FreeMemory()
    assert memory.why_short() == ""
    monkeypatch.setattr(free_memory, "available_bytes", lambda: RESERVE - 1)
    assert memory.why_short() == "less than 512 MiB of the memory are available"


def test_a_kernel_that_does_not_say_it_is_never_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available_bytes", lambda: None)
    assert FreeMemory(1 << 60).why_short() == ""
