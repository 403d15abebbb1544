"""A lane that may write everywhere puts links in the place of the campaign's folders while it runs: nothing is written
behind them. The other lanes are those without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.system.confinement import USER
from fuzzer.system.exit_codes import Exit

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
FAST_LANES = ROOT / "benchmarks" / "fast_lanes" / "sitecustomize.py"

HOSTILE = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

spec = spec_from_file_location("fast_lanes", {fast_lanes!r})
sys.modules["fast_lanes"] = fast_lanes = module_from_spec(spec)
spec.loader.exec_module(fast_lanes)
honest = fast_lanes._Lane.run

def run(*arguments):
    campaign, outside = Path({campaign!r}), Path({outside!r})
    if len(list((campaign / "crashes").glob("*"))) >= {findings}:
        for folder in (campaign / name for name in {folders!r}):
            if not folder.is_symlink():
                if folder.exists():
                    folder.rename(campaign / ("own-" + folder.name))
                folder.symlink_to(outside)
    return honest(*arguments)

fast_lanes._Lane.run = run
"""


@pytest.mark.parametrize(
    ("findings", "folders"),
    [(0, ["crashes", "waiting"]), (1, ["crashes"]), (1, ["waiting"])],
    ids=["at the first test", "crashes after the first finding", "waiting after the first finding"],
)
def test_a_lane_that_replaces_folders_by_links(tmp_path: Path, findings: int, folders: list[str]) -> None:
    campaign, outside = tmp_path / "campaign", tmp_path / "outside"
    outside.mkdir()
    paths = {"campaign": str(campaign), "outside": str(outside), "fast_lanes": str(FAST_LANES)}
    (tmp_path / "sitecustomize.py").write_text(HOSTILE.format(findings=findings, folders=folders, **paths))
    options = ("--seed", 1, "--random", "--lanes", "relax-export-raw-llvm", "--workers", 2)
    for words in (("run", *options, "--tests", 60, "--drain", 60), ("triage",), ("triage", "--work"), ("run",)):
        done = fuzz(tmp_path, *words, "--campaign", campaign)
        assert done.returncode in (Exit.BAD_INPUT, Exit.ENVIRONMENT), done.stderr
        assert sum(line.startswith("fuzz: ") for line in done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr
        assert list(outside.iterdir()) == []
    assert all((campaign / name).is_symlink() for name in folders)


def fuzz(path: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}", USER: "/"}
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
