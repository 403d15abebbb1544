"""The Action's gate with the real `fuzz` and the real compilers, on the change of tests/small_project."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ci_files import BASH, CI, ROOT, Done, action_inputs, run_step, step

pytestmark = [
    pytest.mark.tvm,
    pytest.mark.programs,
    pytest.mark.long,
    pytest.mark.skipif(BASH is None, reason="bash is not on PATH"),
]

CHANGE = ROOT / "tests" / "small_project" / "small_change.py"


def gate(folder: Path, **inputs: str) -> Done:
    """Run the Action's second step in a project, with its inputs or their defaults."""
    runner = {
        "GITHUB_ACTION_PATH": str(CI),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return run_step(step("action", "Compare the builds"), folder, action_inputs(**inputs), runner)


def test_the_gate_stops_a_change_for_the_worse(tmp_path: Path) -> None:
    """Both builds are toolchains of their own, as in a fork; here they are the same interpreter."""
    shutil.copy(CHANGE, tmp_path / "change.py")
    options = {"patched_preload": "change.py", "seconds": "120", "options": "--until-worse 1 --ops tanh,add"}
    done = gate(tmp_path, base=sys.executable, patched=sys.executable, **options)
    assert done.returncode == 1, done.stdout + done.stderr
    reports = tmp_path / "difftvm-reports"
    summary = (tmp_path / "summary.md").read_text()
    assert "patched-build with change.py" in summary
    assert "#### Worse" in summary
    assert ElementTree.parse(reports / "difftvm.xml").findall(".//failure")
    assert json.loads((reports / "difftvm.sarif").read_text())["runs"][0]["results"]
    assert list((reports / "runs" / "1" / "crashes").glob("*/repro.py"))


def test_a_change_that_nothing_reaches_is_a_warning(tmp_path: Path) -> None:
    change = "def unused():\n    return 1\n"
    (tmp_path / "change.py").write_text(change)
    done = gate(tmp_path, patched_preload="change.py", seconds="5", options="--ops relu --tests 3")
    assert (done.returncode, "::warning::difftvm: no case reached" in done.stdout) == (0, True), done.stdout
