"""A disk that fails, and one that loses what was not synced: two benchmarks in a short form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.slow


def output_of(name: str, *words: str) -> str:
    done = subprocess.run([sys.executable, BENCHMARKS / name, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("merge", [pytest.param((), marks=pytest.mark.long), ("--merge",)])
def test_nothing_committed_is_lost_with_what_was_not_synced(merge: tuple[str, ...]) -> None:
    shown = output_of(
        "lost_writes.py", "--tests", "1", "--every", "8", "--random", "1", "--continue-every", "30", *merge
    )
    calls, states = map(int, re.findall(r"(\d+) (?:calls|states)", shown))
    assert states == calls // 8 * 3
    assert states > 10
    assert shown.endswith("0 with something lost or broken\n")


@pytest.mark.long
def test_a_write_that_fails_once_loses_nothing() -> None:
    shown = output_of("write_faults.py", "--tests", "1", "--every", "70", "--errors", "ENOSPC")
    faults = re.search(r"^(\d+) faults, 0 did harm$", shown, re.MULTILINE)
    assert faults is not None
    assert int(faults[1]) >= 2
