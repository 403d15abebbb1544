"""The bound of the free space, on the real disk of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.system import free_space
from fuzzer.system.free_space import FreeSpace


@pytest.mark.parametrize("reserve", [0, 1 << 60])
def test_a_disk_with_less_than_the_reserve_is_used_down_to_half(reserve: int, tmp_path: Path) -> None:
    assert FreeSpace(tmp_path, reserve).why_short() == ""


def test_a_disk_that_loses_its_reserve_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = FreeSpace(tmp_path, 5)
    monkeypatch.setattr(free_space, "free_bytes", lambda folder: 4)
    assert space.why_short() == "less than 0.00 GB of the disk are free"


def test_a_folder_that_is_gone_is_not_short(tmp_path: Path) -> None:
    assert FreeSpace(tmp_path / "gone", 1).why_short() == ""
