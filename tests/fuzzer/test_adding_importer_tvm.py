"""docs/adding.md: an importer that is added as the page says, and only so, imports, compiles and is reported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.tvm

ROOT = Path(__file__).parents[2]
PACKAGES = ("difftvm", "fuzzer", "generators", "oracles")
LANES = ("relax-export-saved-evaluated", "relax-export-saved-llvm")

PROGRAM = """
import json

from graphs_by_hand import case_of
from records import record

from fuzzer.report import sentences
from fuzzer.campaign.lanes import lane_table
from fuzzer.lanes import EVALUATED_LANES, SAMPLED_LANES, TORCH
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from fuzzer.report import regression_test, repro
from oracles.finding import Kind, Mismatch

calls = [("v0", "linear", "x0 w0 w1"), ("v1", "relu", "v0")]
case = case_of({"x0": "float32[2,3]", "w0": "float32[4,3]", "w1": "float32[4]"}, calls, "v1")
added = [lane for lane in (*EVALUATED_LANES, *SAMPLED_LANES) if lane.importer == "export-saved"]
prepared = PreparedCase(case, Quiet())
(right,) = runner_of(TORCH).run(prepared, TORCH, Quiet()).outputs
found = record(case, Kind.WRONG_VALUE, added[-1], Mismatch(0, "0.0", "1.0"))
print(json.dumps({
    "table": {row.lane.name: row.when for row in lane_table.rows() if row.lane in added},
    "errors": {
        lane.name: float(abs(runner_of(lane).run(prepared, lane, Quiet()).outputs[0] - right).max()) for lane in added
    },
    "way": sentences.way(added[-1]),
    "place": regression_test.place(found),
    "script": repro.script(found),
}))
"""


def blocks() -> tuple[str, str, str]:
    """The page's row, module and template."""
    section = (ROOT / "docs" / "adding.md").read_text().split("## An importer\n")[1].split("\n## ")[0]
    row, module, template = re.findall(r"^ *```(?:python|jinja)\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)
    return row, dedent(module), re.sub(r"^   ", "", template, flags=re.MULTILINE)


def copy_with_the_importer(folder: Path) -> None:
    """A copy of difftvm in which the steps of the page are done."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    row, module, template = blocks()
    table = folder / "oracles" / "importers.py"
    before, mark, after = table.read_text().partition("\n    row: ImporterRow\n")
    table.write_text(f"{before}{row}{mark}{after}")
    (folder / "fuzzer/lanes/relax/importers/saved_program.py").write_text(module)
    (folder / "fuzzer/templates/repro/importer/saved.py.j2").write_text(template)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python puts the folder before what is installed."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_added_importer_needs_the_row_the_module_and_the_template_alone(tmp_path: Path) -> None:
    copy_with_the_importer(tmp_path)
    for name in ("graphs_by_hand.py", "records.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path)
    done = python(tmp_path, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["table"] == dict(zip(LANES, ("some tests", "chosen tests"), strict=True))
    assert found["errors"].keys() == set(LANES)
    assert max(found["errors"].values()) < 1e-5
    assert found["way"].startswith("`torch.export`, `torch.export.save`, `torch.export.load`, `from_exported_program`")
    assert found["place"] == "tests/python/relax/test_frontend_from_exported_program.py"
    assert "torch.export.load(file)" in found["script"]
    (tmp_path / "repro.py").write_text(found["script"])
    script = python(tmp_path, "repro.py")
    assert script.returncode == 0, script.stdout + script.stderr  # the made-up bug is gone


def test_the_module_is_short() -> None:
    assert len(blocks()[1].splitlines()) < 100
