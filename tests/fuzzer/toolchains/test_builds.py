"""Builds of a folder in their order, and builds of commits, each made once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.builds import in_folder, of_commits, subject_of
from fuzzer.toolchains.toolchain import GraphLanguage
from generators.graph import Invalid


def silent(text: str) -> None:
    return None


def interpreter(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return path


def test_the_order_is_that_of_the_names_and_their_numbers(tmp_path: Path) -> None:
    for name in ("10-last", "9-prefix/bin/python", "1-first"):
        interpreter(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no build")
    (tmp_path / "2-broken").mkdir()
    builds = in_folder(tmp_path)
    assert [build.name for build in builds] == ["1-first", "9-prefix", "10-last"]
    toolchain = builds[1].toolchain(GraphLanguage.RELAX)
    assert toolchain is not None
    assert (toolchain.name, toolchain.python) == ("9-prefix", str(tmp_path / "9-prefix/bin/python"))


def test_a_folder_without_builds(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r": no interpreter, and no folder with bin/python$"):
        in_folder(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four commits, of which the second cannot be built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "x")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "x@y")
    folder = tmp_path / "tvm"
    folder.mkdir()
    git(folder, "init", "-q")
    for number in range(4):
        (folder / "number").write_text(str(number))
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"number {number}\n\nAnd more.")
    interpreter(tmp_path / "prefix" / "bin" / "python")
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], env=os.environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


COUNTING = """
echo "$DIFFTVM_COMMIT" >> ../built
test "$(git show "$DIFFTVM_COMMIT:number")" != 1 || exit 125
echo some output
echo ../prefix
"""


@pytest.mark.programs("git")
def test_each_commit_is_built_once(repository: Path) -> None:
    for _ in range(2):
        builds = of_commits(COUNTING, repository, "HEAD~3", "HEAD", silent)
        made = [build.toolchain(GraphLanguage.RELAX) for build in builds]
        assert [toolchain is None for toolchain in made] == [False, True, False, False]
    commits = git(repository, "rev-list", "--reverse", "HEAD").split()
    assert [build.name for build in builds] == [commit[:12] for commit in commits]
    assert (repository.parent / "built").read_text().split() == commits
    assert subject_of(repository, builds[2].name) == "number 2"
    shutil.rmtree(repository.parent / "prefix")
    interpreter(repository.parent / "prefix" / "bin" / "python")
    builds[3].toolchain(GraphLanguage.RELAX)
    assert len((repository.parent / "built").read_text().split()) == 4


@pytest.mark.programs("git")
def test_a_build_that_is_gone_is_made_again(repository: Path) -> None:
    command = "mkdir -p ../made/bin && cp ../prefix/bin/python ../made/bin/ && echo built >> ../built && echo ../made"
    (_, build) = of_commits(command, repository, "HEAD~1", "HEAD", silent)
    build.toolchain(GraphLanguage.RELAX)
    shutil.rmtree(repository.parent / "made")
    assert build.toolchain(GraphLanguage.RELAX) is not None
    assert (repository.parent / "built").read_text() == "built\nbuilt\n"


@pytest.mark.programs("git")
@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 3", "exit code 3"),
        ("echo nothing here", "its last line is no interpreter and no prefix: 'nothing here'"),
        ("true", "its last line is no interpreter and no prefix: ''"),
    ],
)
def test_a_command_that_fails_ends_the_bisection(repository: Path, command: str, why: str) -> None:
    build = of_commits(command, repository, "HEAD~1", "HEAD", silent)[0]
    with pytest.raises(EnvironmentMissing, match=rf"^--build-command for {build.name}: {why}$"):
        build.toolchain(GraphLanguage.RELAX)


@pytest.mark.programs("git")
@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        ("HEAD", "HEAD", r"there is no commit after HEAD up to HEAD$"),
        ("nonsense", "HEAD", r"git rev-list .*: .*nonsense"),
    ],
)
def test_commits_that_there_are_not(repository: Path, good: str, bad: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        of_commits("true", repository, good, bad, silent)
