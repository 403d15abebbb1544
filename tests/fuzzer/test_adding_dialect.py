"""docs/dialects.md: the dialect of docs/examples/toy_dialect, whose folders and rows of tables are all that the page
asks for, is drawn, mutated, judged and reduced, and TVM compiles it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("difftvm", "fuzzer", "generators", "oracles")
TOY = ROOT / "docs" / "examples" / "toy_dialect"
PROGRAM = "toy_cases.py"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of difftvm with the toy."""
    folder = tmp_path_factory.mktemp("toy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("generators", "fuzzer"):
        shutil.copytree(TOY / name, folder / name, dirs_exist_ok=True)
    for row in tomllib.loads((TOY / "tables.toml").read_text())["row"]:
        file = folder / row["file"]
        before, mark, after = file.read_text().partition(row["after"])
        assert mark, row
        file.write_text(f"{before}{mark}{row['text']}{after}")
    for file in (Path(__file__).with_name(PROGRAM), ROOT / "tests" / "records.py"):
        shutil.copy(file, folder)
    return folder


def python(folder: Path, *arguments: str) -> str:
    """What a program prints. Python puts its folder before what is installed."""
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_added_dialect_is_drawn_judged_and_reduced(copy: Path) -> None:
    found = json.loads(python(copy, PROGRAM))
    assert list(found["verdicts"]) == ["ok"]
    assert found["operators"] == ["toy.negate", "toy.plus", "toy.total"]
    assert found["calls before"] > 2
    assert found["calls after"] == ["toy.total"]
    assert found["kinds"] == ["wrong-value"]
    assert (found["tags"], found["labels"]) == ("[Relax]", [])
    assert found["TVM's tests"] == "tests/python/relax/test_blockbuilder_core.py"


@pytest.mark.tvm
def test_tvm_compiles_its_cases_and_is_right(copy: Path) -> None:
    found = json.loads(python(copy, PROGRAM, "--tvm"))
    assert (found["lane"], found["findings"]) == ("relax-toy-llvm", [])
    assert "x0.sum(-1)" in found["script"]
    (copy / "repro.py").write_text(found["script"])
    python(copy, "repro.py")  # it exits with 0: TVM does not have the bug


def test_few_rows_of_tables_are_needed() -> None:
    files = [row["file"] for row in tomllib.loads((TOY / "tables.toml").read_text())["row"]]
    assert sorted(set(files)) == [
        "fuzzer/lanes/__init__.py",
        "generators/dialect_names.py",
        "oracles/importers.py",
        "oracles/lane.py",
    ]
