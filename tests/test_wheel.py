"""A wheel has all files of the packages, and works from where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("difftvm", "fuzzer", "generators", "oracles")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because setuptools writes into the folder that it builds."""
    copy, built = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for path in files():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_bytes((ROOT / path).read_bytes())
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    command = (sys.executable, "-c", BUILD, str(built))
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return next(built.glob("*.whl"))


BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def files() -> set[str]:
    found = {path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()}
    return {str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts}


@pytest.mark.slow
def test_it_has_each_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert names == files()


@pytest.mark.tvm
def test_the_doctor_finds_nothing_wrong_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path / "site")
    command = [sys.executable, "-c", DOCTOR, str(tmp_path / "site")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "BAD" not in done.stdout


DOCTOR = """
import sys
import fuzzer.cli
assert fuzzer.__file__.startswith(sys.argv[1])
sys.argv = ["fuzz", "doctor"]
fuzzer.cli.main()
"""
