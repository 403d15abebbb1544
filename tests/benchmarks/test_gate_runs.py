"""How benchmarks/gate_runs.py prepares a run of the gate, and reads its last lines."""

from __future__ import annotations

from pathlib import Path

import gate_runs
import run_parts
from run_parts import Ended, PartResult


def test_a_run_is_that_of_ci_where_nothing_is_changed(tmp_path: Path) -> None:
    with gate_runs.every("idle", tmp_path) as idle, gate_runs.every("full-home", tmp_path) as other:
        assert (idle.as_ci, other.as_ci) == (True, False)
        assert other.environment == {"HOME": str(tmp_path / "home")}


def test_several_conditions_hold_at_the_same_time(tmp_path: Path) -> None:
    with gate_runs.every("full-home+pythonpath+next-year", tmp_path) as all_three:
        assert set(all_three.environment) == {"HOME", "PYTHONPATH"}
        assert all_three.before == ("faketime", "-f", "+365d")
        assert not all_three.as_ci


def test_what_the_last_lines_say_is_read() -> None:
    part = PartResult("gate", passed=3, unstable=[Ended("tests/test_a.py::test_b[c d]", "failed", "once")])
    text = "\n".join(run_parts.summary([part], ""))
    assert gate_runs.COUNTS.findall(text) == [("3", "0", "0")]
    assert gate_runs.UNSTABLE.findall(text) == ["tests/test_a.py::test_b[c d]"]
