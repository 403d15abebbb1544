"""The library and the plugin of pytest on the project in tests/small_project: a model, a pass and a change of TVM.

`tests/ci/test_ci_gate_tvm.py` runs the Action's steps on its change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent / "small_project"
HUNG = 3600
"""Seconds after which a command is taken for hung. Its tests are counted, so that a busy machine changes no result."""

LIBRARY = """
import difftvm
from small_model import model
from small_pass import merge_relu

if __name__ == "__main__":
    checked = difftvm.check(*model(), lanes="relax-export-llvm", passes=["FuseOps"])
    report = difftvm.check_pass(merge_relu, ops="relu,neg", idempotent=True, tests=20, seed=1, seconds=3600)
    print(*checked.ran, report.tests, report.changed > 0, report.ran > 0)
    try:
        difftvm.check(*model(), lanes="relax-export-llvm", preload="small_change.py", folder="found")
    except difftvm.FindingError as error:
        print(*(f"{found.kind} {','.join(found.operators)} {found.repro}" for found in error.findings))
"""

pytestmark = [pytest.mark.tvm, pytest.mark.pages]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__")))


def test_the_library_on_the_small_project(project: Path) -> None:
    (project / "checked.py").write_text(LIBRARY)
    done = subprocess.run([sys.executable, "checked.py"], cwd=project, capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 0, done.stderr
    right, wrong = done.stdout.splitlines()
    assert re.fullmatch(r"relax-export-llvm\S*( relax-export-llvm\S*)* 20 True True", right)
    kind, operators, repro = wrong.split()
    assert (kind, "tanh" in operators.split(",")) == ("wrong-value", True)
    change = project / "small_change.py"
    assert subprocess.run([sys.executable, repro, change], cwd=project, capture_output=True).returncode == 1


def test_the_plugin_on_the_small_project(project: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--difftvm-seed=3", "small_checks.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    environment = {**os.environ, "CHANGE": "small_change.py"}
    command += ["-k", "test_the_model"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 1, done.stdout
    assert re.search(r"^E +\S+/repro\.py$", done.stdout, re.MULTILINE), done.stdout
    assert list(project.glob(".difftvm/*/**/repro.py"))
