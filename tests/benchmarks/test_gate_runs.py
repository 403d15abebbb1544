"""How benchmarks/gate_runs.py prepares a run of the gate, and reads its last lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import gate_runs
import pytest
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


def test_a_fault_is_a_file_of_the_clone(tmp_path: Path) -> None:
    (tmp_path / "main" / "tests").mkdir(parents=True)
    with gate_runs.every("failing-test+flaky-test", tmp_path) as both:
        assert both == gate_runs.Prepared(as_ci=True)
    assert {path.name for path in (tmp_path / "main" / "tests").iterdir()} == {
        "test_planted_failing.py",
        "test_planted_flaky.py",
    }


def test_the_flaky_test_passes_when_it_runs_again(tmp_path: Path) -> None:
    names = {"__file__": str(tmp_path / "test_planted_flaky.py")}
    exec(gate_runs.FLAKY_TEST, names)
    test = cast(Callable[[], None], names["test_that_fails_once"])
    with pytest.raises(AssertionError, match="it runs for the first time"):
        test()
    test()


@pytest.mark.parametrize(("fault", "after"), [("pip-fails-twice", ""), ("pip-fails-always", "no settings\n")])
def test_pip_cannot_read_its_settings_until_it_has_failed(fault: str, after: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("pip\nthe installation failed\n")
    with gate_runs.every(fault, tmp_path) as prepared:
        settings = Path(prepared.environment["PIP_CONFIG_FILE"])
        assert settings.read_text() == "no settings\n"
        with log.open("a") as more:
            more.write("pip\nthe installation failed\n")
        if not after:
            while settings.read_text():
                time.sleep(0.1)
    assert settings.read_text() == after
