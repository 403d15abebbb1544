"""What Linux says of processes, and does for them."""

from __future__ import annotations

import os

from fuzzer.isolate.processes import give_back_memory, resident_bytes


def test_what_was_freed_goes_back_to_the_system() -> None:
    blocks = [bytes([1]) * 100_000 for _ in range(600)]  # less than malloc maps by itself
    last = blocks[-1]
    before = resident_bytes(os.getpid())
    del blocks
    give_back_memory()
    assert resident_bytes(os.getpid()) < before - 30_000_000
    assert len(last) == 100_000
