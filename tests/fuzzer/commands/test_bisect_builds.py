"""`fuzz bisect` over builds, with real TVM: some builds have the change of docs/examples/changed_relu.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from graphs_by_hand import case_of
from in_process import completed
from records import record

from fuzzer.findings import finding_file
from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.signature.blame import Introduction
from generators import case_file
from oracles.finding import Kind, Mismatch

ROOT = Path(__file__).parents[3]
CHANGE = ROOT / "docs" / "examples" / "changed_relu.py"
LANE = next(lane for lane in EVERY_TVM_LANE if lane.name == "relax-export-llvm")
RELU = case_of({"x0": "float32[2,3,4]"}, [("v0", "relu", "x0")], "v0")
CASE = replace(RELU, tensors={"x0": RELU.tensors["x0"] - 9})
FINDING = record(CASE, Kind.WRONG_VALUE, LANE, Mismatch(0, "0.0 at [0, 0, 0]", "-1.0 (1 of 24 elements are wrong)"))

# it executes the change as soon as the importer is loaded
PATCHES = """
import runpy, sys
from importlib.machinery import PathFinder

IMPORTER = "tvm.relax.frontend.torch.exported_program_translator"


class Patching:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name == IMPORTER else None
        if spec is not None:
            execute = spec.loader.exec_module

            def patched(module):
                execute(module)
                runpy.run_path({change!r})

            spec.loader.exec_module = patched
        return spec


sys.meta_path.insert(0, Patching)
"""


def written(folder: Path) -> Path:
    """The finding in the folder `crashes`."""
    finding = folder / "crashes" / FINDING.doc.slug
    finding.mkdir(parents=True)
    text, tensors = case_file.encode(CASE)
    (finding / case_file.JSON_NAME).write_bytes(text)
    (finding / case_file.TENSORS_NAME).write_bytes(tensors)
    (finding / finding_file.NAME).write_bytes(finding_file.encode(FINDING.doc))
    return finding


def build(folder: Path, changed: bool) -> None:
    (folder / "bin").mkdir(parents=True)
    code = PATCHES.replace("{change!r}", repr(str(CHANGE))) if changed else ""
    (folder / "sitecustomize.py").write_text(code)
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)


def bisect(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzzer.cli", "bisect", *map(str, words)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


# the file `state` of the commit names a build, or says that there is none
COMMAND = """
echo "$DIFFTVM_COMMIT" >> "$PWD/../built"
state=$(git show "$DIFFTVM_COMMIT:state")
[ "$state" != none ] || exit 125
echo "a line of the build"
echo "../builds/$state"
"""


def repository(folder: Path, *states: str) -> list[str]:
    """A repository with a commit for each state, and its commits."""
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    commits = []
    for number, state in enumerate(states):
        (folder / "state").write_text(state)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", f"Change {number}"], check=True)
        done = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        commits.append(done.stdout.strip())
    return commits


@pytest.mark.tvm
@pytest.mark.long
def test_the_build_that_introduced_it(tmp_path: Path) -> None:
    finding = written(tmp_path)
    for number, changed in enumerate((False, True, True)):
        build(tmp_path / "builds" / f"{number}-build", changed)
    done = bisect(tmp_path, finding, "--builds", "builds", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["introduced_by"] == ["1-build"]
    assert {run["build"]: run["verdict"] for run in found["runs"]} == {
        "0-build": "passes",
        "1-build": "fails",
        "2-build": "fails",
    }
    assert finding_file.read(finding).introduced == Introduction(("1-build",), "", "0-build")
    sentence = "It was introduced by 1-build. 0-build, the build before, does not show it."
    assert sentence in (finding / "issue.md").read_text()


@pytest.mark.tvm
@pytest.mark.long
@pytest.mark.programs
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH")
def test_commits_that_cannot_be_built_make_several_suspects(tmp_path: Path) -> None:
    finding = written(tmp_path)
    for name in ("right", "changed"):
        build(tmp_path / "builds" / name, changed=name == "changed")
    commits = repository(tmp_path / "tvm", "right", "right", "none", "changed", "changed")
    words = (finding, "--build-command", COMMAND, "--repo", "tvm", "--good", commits[0])
    done = bisect(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    names = [commit[:12] for commit in commits]
    answer = f"{finding.name}: introduced by one of {names[2]}, {names[3]}: the others cannot tell"
    assert done.stdout.splitlines()[-1] == answer
    assert finding_file.read(finding).introduced == Introduction((names[2], names[3]), "", names[1])
    earlier, first, second = (f"`{name}`" for name in names[1:4])  # a bare digest would become a link to a commit
    sentence = f"It was introduced by one of {first}, {second}. {earlier}, the build before, does not show it."
    assert sentence in (finding / "issue.md").read_text()
    built = (tmp_path / "built").read_text().split()
    assert len(built) == len(set(built)), "each commit is built once"
    assert commits[2] in built
    again = bisect(tmp_path, *words, "--bad", commits[3], "--json")
    found = json.loads(again.stdout)
    assert found["introduced_by"] == [names[2], names[3]]
    assert {run["build"]: run["verdict"] for run in found["runs"]}[names[2]] == "is not run"
    assert (tmp_path / "built").read_text().split() == built, "what was built, and what cannot be, is kept"


@pytest.mark.tvm
@pytest.mark.programs
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH")
def test_a_command_that_fails_ends_the_bisection(tmp_path: Path) -> None:
    finding = written(tmp_path)
    first, second = repository(tmp_path / "tvm", "right", "changed")
    done = bisect(tmp_path, finding, "--build-command", "exit 3", "--repo", "tvm", "--good", first)
    assert done.returncode == 69, done.stderr
    assert f"fuzz: --build-command for {second[:12]}: exit code 3\n" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--builds", "none"), "fuzz: none: no interpreter, and no folder with bin/python"),
        (("--builds", "a", "--build-command", "b"), "fuzz: --builds, --build-command, and --toolchain with --install"),
        (("--build-command", "b"), "fuzz: --build-command needs --good, a commit that does not show the finding"),
    ],
)
def test_what_cannot_be_bisected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    finding = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = completed(monkeypatch, "bisect", finding, *words)
    assert (done.returncode, done.stderr.count("\n")) == (64, 1), done.stderr
    assert done.stderr.startswith(sentence)
