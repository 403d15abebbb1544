"""`fuzz doctor` says whether lanes are without a network."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzer.commands import doctor
from fuzzer.system import no_network


def test_it_tries_whether_lanes_can_be_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._lanes_are_without_network() == (os.uname().machine in no_network._MACHINES)
    assert "NoNewPrivs:\t0" in Path("/proc/self/status").read_text(), "this process keeps it"
    (tmp_path / "other.py").write_text("def enter():\n    return False\n")
    monkeypatch.setattr(no_network, "__file__", str(tmp_path / "other.py"))
    assert not doctor._lanes_are_without_network()
