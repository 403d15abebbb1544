"""`fuzz diff` as a user calls it: exit codes, reports, and the sentences for what cannot be compared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from in_process import completed

WORSE, NOT_REACHED, BAD_INPUT, SAME = 1, 2, 64, 77

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "changed_relu.py"

UNREACHED = """
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

original = ExportedProgramImporter._unary_op


def changed(self, op):
    return original(self, op)


def of_tflite(x):
    return x

"""


def diff(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return fuzz(folder, "diff", *words)


def fuzz(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def written(folder: Path, text: str) -> Path:
    path = folder / "change.py"
    path.write_text(text)
    return path


ONE_LANE = ("--lanes", "relax-export-raw-llvm", "--seed", 1, "--workers", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (),
            "fuzz: the base and the patched toolchain are the same (host); name two toolchains with --base and"
            " --patched, or a file with the change: --patched-preload FILE.py",
        ),
        (("--base", "base"), "fuzz: a toolchain with the name 'base' cannot be compared"),
        (("--patched-preload", "change.py", "--cases", "none"), "fuzz: none: no case, no corpus and no campaign"),
        (
            ("--patched-preload", "change.py", "--markdown", "none/a.md"),
            "fuzz: none is not a directory; make it, or name another place for a.md",
        ),
        (("--patched-preload", "change.py", "--sarif", "."), "fuzz: . is a directory; name a file for the report"),
        (("--patched-preload", "none.py"), "fuzz: --preload none.py: No such file or directory"),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    written(tmp_path, UNREACHED)
    monkeypatch.chdir(tmp_path)
    done = completed(monkeypatch, "diff", *words)
    assert (done.returncode, done.stderr.count("\n")) == (BAD_INPUT, 1), done.stderr
    assert done.stderr.startswith(sentence)
    assert not (tmp_path / "diff").exists()


@pytest.mark.tvm
@pytest.mark.long
def test_a_change_for_the_worse(tmp_path: Path) -> None:
    """The second run knows the case of the first. One worker investigates one failure at a time."""
    words = ("--patched-preload", EXAMPLE, *ONE_LANE, "--workers", 1, "--ops", "relu,neg", "--until-worse", 1)
    files = ("--markdown", "a.md", "--junit", "a.xml", "--sarif", "a.json", "--json")
    done = diff(tmp_path, *words, "--tests", 60, *files)
    assert done.returncode == WORSE, done.stderr
    result = json.loads(done.stdout)
    (worse,) = result["worse"]
    assert (worse["kind"], worse["ops"]) == ("wrong-value", ["relu"])
    page = (ROOT / "docs" / "diff.md").read_text()
    assert f"  {worse['slug']}\n" in page
    assert f"\n{result['verdict']}\n" in page
    assert result["verdict"] == f"{result['patched']} is worse than host"
    assert 0 < result["reached"]["changed_relu.py relu"] <= result["reaching"] <= result["tests"]
    finding = json.loads((tmp_path / worse["folder"] / "finding.json").read_bytes())
    assert finding["confirmed"] == "3 of 3"
    assert finding["versions"]["base"] == "host"
    sentence = f"It is right with `host`, and wrong with `{result['patched']}`."
    assert sentence in (tmp_path / worse["folder"] / "issue.md").read_text()
    page = fuzz(tmp_path, "report", worse["folder"], "--format", "html").stdout
    assert re.sub(r"`(.*?)`", r"<code>\1</code>", sentence) in page
    assert f"`{worse['slug']}`" in (tmp_path / "a.md").read_text()
    (failure,) = ElementTree.parse(tmp_path / "a.xml").iter("failure")
    assert f"fuzz --replay diff/1/crashes/{worse['slug']}" in (failure.text or "")
    (sarif,) = json.loads((tmp_path / "a.json").read_text())["runs"][0]["results"]
    assert sarif["partialFingerprints"]["difftvmSignature"] == worse["signature"]

    again = diff(tmp_path, *words, "--tests", 1)
    assert again.returncode == WORSE, again.stderr
    assert [path.name for path in (tmp_path / "diff/2/crashes").glob("wrong-*")] == [worse["slug"]]


@pytest.mark.tvm
@pytest.mark.long
def test_a_base_that_is_wrong_is_fixed(tmp_path: Path) -> None:
    """The other way round: the base has a change for the worse. A file that no build has does not count.

    What is fixed is not reduced, so that its case has other operators too."""
    change = written(tmp_path, EXAMPLE.read_text().replace("len(importer.shape_of(x)) == 3", "True"))
    changed = ("python/tvm/relax/frontend/torch/exported_program_translator.py", "tests/python/relax/test_a.py")
    words = ("--base-preload", change, *ONE_LANE, "--ops", "relu", "--tests", 60, "--json")
    done = diff(tmp_path, *words, *(word for path in changed for word in ("--changed", path)))
    assert done.returncode == 0, done.stderr
    assert "tests/python/relax/test_a.py is part of no build; it does not count as changed code\n" in done.stderr
    result = json.loads(done.stdout)
    assert (result["verdict"], result["worse"]) == ("nothing is worse", [])
    assert result["reaching"] > 0
    fixed = next(each for each in result["fixed"] if each["kind"] == "wrong-value")
    assert "relu" in fixed["ops"]
    assert json.loads((tmp_path / fixed["folder"] / "finding.json").read_bytes())["confirmed"] == "3 of 3"
    again = fuzz(tmp_path, "--replay", fixed["folder"], "--preload", change)
    assert again.returncode == SAME, again.stderr


@pytest.mark.tvm
@pytest.mark.long
def test_a_change_that_nothing_reaches(tmp_path: Path) -> None:
    change = written(tmp_path, UNREACHED)
    done = diff(tmp_path, "--patched-preload", change, *ONE_LANE, "--ops", "relu", "--markdown", "a.md")
    assert done.returncode == NOT_REACHED, done.stderr
    assert re.search(r"^changed code reached: 0 of 10[12] tests$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("no test reached the changed code\n")
    assert (tmp_path / "a.md").read_text().startswith("### difftvm: no test reached the changed code\n")
