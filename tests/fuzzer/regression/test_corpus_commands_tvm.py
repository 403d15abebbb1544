"""`fuzz corpus keep` and `fuzz corpus run` on a real campaign: what is kept, and a change for the worse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tvm, pytest.mark.long]

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "changed_relu.py"


def fuzz(*words: object, expects: int = 0) -> str:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == expects, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regression")
    drawn = ("--dialect", "torch", "--ops", "relu", "--tests", 12, "--seed", 3, "--drain", 0, "--triage-share", 0)
    fuzz("run", "--campaign", folder / "hunt", *drawn)
    printed = fuzz("corpus", "keep", folder / "hunt", "--into", folder / "kept", "--cases", 6)
    assert re.search(r"^\d cases in .*\n0 of 0 families of findings kept$", printed, re.MULTILINE), printed
    return folder / "kept"


def test_a_corpus_that_was_just_made_ends_as_recorded(kept: Path) -> None:
    printed = fuzz("corpus", "run", kept).splitlines()
    assert printed[-1] == "all lanes end as recorded"
    record = json.loads((kept / "corpus.json").read_text())
    assert printed[-2].startswith(f"{len(record['failures'])} known failures as expected, in ")


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """The change of the example, for tensors of every rank: which ranks a short campaign keeps is chance."""
    rank = "len(importer.shape_of(x)) == 3"
    text = EXAMPLE.read_text()
    assert rank in text
    (tmp_path / "changed.py").write_text(text.replace(rank, "True"))
    return tmp_path / "changed.py"


def test_a_change_for_the_worse_is_named_and_its_case_is_saved(kept: Path, changed: Path, tmp_path: Path) -> None:
    words = ("corpus", "run", kept, "--preload", changed, "--save", tmp_path, "--json")
    found = json.loads(fuzz(*words, expects=78))
    recorded = json.loads((kept / "corpus.json").read_text())["failures"]
    assert {each["failure"] for each in found["known"]} <= recorded.keys()
    worse = [each for each in found["changed"] if each["change"] == "worse"]
    assert worse
    assert all("relu" in each["ops"] for each in worse)
    assert {each["case"] for each in worse} <= {path.name for path in (tmp_path / "corpus").iterdir()}


def test_a_folder_that_is_no_campaign_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fuzz("corpus", "keep", tmp_path / "empty", "--into", tmp_path / "kept", expects=64)
    assert not (tmp_path / "kept").exists()
