"""The CPU seconds of tests: what counts, and the table that `--dearest` prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cpu_seconds import table, used

TESTS = Path(__file__).parent
BURN = "import time\nwhile time.process_time() < 0.5: pass\n"

SUITE = f"""
import subprocess, sys, time

def test_cheap():
    pass

def test_dear():
    subprocess.run([sys.executable, "-c", {BURN!r}], check=True)
"""


@pytest.mark.slow
def test_children_count_before_and_after_they_end() -> None:
    before = used()
    burnt = f"{BURN}print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", burnt], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        child.stdout.readline()
        assert used() - before > 0.4
        child.communicate(b"\n")
    assert used() - before > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_the_dearest_test_is_named_with_its_seconds(tmp_path: Path, workers: int) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    plugins = "-p", "xdist.plugin", "-p", "cpu_seconds"
    command = [sys.executable, "-m", "pytest", *plugins, "-n", str(workers), "--dearest", "1", "test_suite.py"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert re.search(r"^ +\d+\.\d collection, in 1 processes$", done.stdout, re.MULTILINE), done.stdout
    seconds, test = done.stdout.partition("the 1 dearest tests:\n")[2].split()[:2]
    assert test == "test_suite.py::test_dear"
    assert float(seconds) >= 0.4


def test_the_seconds_of_tests_are_added_up_by_folder() -> None:
    tests = {"tests/test_x.py::test_a[b/c]": 1.5, "tests/a/b/c/test_y.py::test_d": 3.0, "tests/a/b/test_z.py::e": 0.25}
    assert table(tests, [1.0, 2.0], 1) == [
        "     3.0 collection, in 2 processes",
        "     4.8 all tests",
        "     3.2 tests/a/b",
        "     1.5 tests",
        "the 1 dearest tests:",
        "     3.0 tests/a/b/c/test_y.py::test_d",
    ]
