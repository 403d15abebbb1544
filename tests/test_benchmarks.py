"""Each script of benchmarks/ can be imported: what it takes from the project is still there under that name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"

IMPORT_EACH = """
import importlib, os, sys, traceback

for name in sys.argv[1:]:
    if child := os.fork():
        failed = os.waitpid(child, 0)[1] != 0
        if failed:
            print(f"cannot import {name}")
    else:
        try:
            importlib.import_module(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
"""


OF_MOST = "import fuzzer.campaign.run.loop, fuzzer.commands.run, fuzzer.triage.investigate, torch\n"
"""What most of them import, once: half a second for each of them otherwise."""


def imported(folder: Path, names: list[str], before: str = "") -> tuple[str, str]:
    """Import each module in a fork of its own. Return the failures, a line for each, and their tracebacks."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}"}
    command = [sys.executable, "-c", before + IMPORT_EACH, *names]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_every_benchmark_can_be_imported() -> None:
    failures, tracebacks = imported(BENCHMARKS, sorted(path.stem for path in BENCHMARKS.glob("*.py")), OF_MOST)
    assert failures == "", tracebacks


@pytest.mark.slow
def test_a_benchmark_that_imports_a_missing_name_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "stale.py").write_text("from fuzzer.cli import no_such_name\n")
    (tmp_path / "good.py").write_text("from fuzzer.cli import main\n")
    failures, tracebacks = imported(tmp_path, ["good", "stale"])
    assert failures == "cannot import stale\n"
    assert "cannot import name 'no_such_name'" in tracebacks
