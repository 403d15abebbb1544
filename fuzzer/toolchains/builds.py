"""Builds of TVM that are not registered as toolchains: those of a folder, and those that a command makes of commits."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzzer.system.child_environment import inherited
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.files import write_atomically
from fuzzer.toolchains import installation
from fuzzer.toolchains.toolchain import GraphLanguage, Toolchain
from generators.graph import Invalid

CANNOT_BUILD = 125
"""The exit code of a command that cannot build a commit, as `git bisect run` has it."""

COMMIT = "DIFFTVM_COMMIT"
"""The environment variable that tells a command which commit to build."""

MOST_SUBJECT = 120
_CACHE = "builds"
_SHORT = 12


@dataclass(frozen=True, slots=True)
class Build:
    """A build by its name. `python` finds its interpreter, or returns None where it cannot be built."""

    name: str
    python: Callable[[], Path | None]

    def toolchain(self, kind: GraphLanguage) -> Toolchain | None:
        """Build it where that is needed. Raise `EnvironmentMissing` where the command fails."""
        path = self.python()
        return None if path is None else Toolchain(self.name, str(path), kind=kind)


def in_folder(folder: Path) -> list[Build]:
    """The builds of a folder in the order of their names, numbers by their value: interpreters, and prefixes that have
    `bin/python`. Raise `Invalid` where there is none."""
    found = {path.name: python for path in folder.glob("*") if (python := _python_of(path))}
    if not found:
        raise Invalid(f"{folder}: no interpreter, and no folder with bin/python")
    names = sorted(found, key=lambda name: [(part.isdecimal(), part.zfill(20)) for part in re.split(r"(\d+)", name)])
    return [Build(name, lambda python=found[name]: python) for name in names]  # type: ignore[misc]


def _python_of(path: Path) -> Path | None:
    for python in (path, path / "bin" / "python"):
        if python.is_file() and os.access(python, os.X_OK):
            return python.absolute()
    return None


def of_commits(command: str, repository: Path, good: str, bad: str, tell: Callable[[str], None]) -> list[Build]:
    """The builds of the commits after `good` up to `bad`, and of `good` itself, oldest first, on the line of first
    parents. Raise `Invalid` where git does not know them."""
    lines = _git(repository, "rev-list", "--first-parent", "--reverse", f"{good}..{bad}").split()
    first = _git(repository, "rev-parse", "--verify", f"{good}^{{commit}}").strip()
    if not lines:
        raise Invalid(f"{repository}: there is no commit after {good} up to {bad}")
    builder = _Builder(command, repository, tell)
    return [Build(commit[:_SHORT], lambda commit=commit: builder.python(commit)) for commit in (first, *lines)]  # type: ignore[misc]


def subject_of(repository: Path, commit: str) -> str:
    """The first line of the message of a commit, cut after `MOST_SUBJECT` characters."""
    line = _git(repository, "log", "-1", "--format=%s", commit).strip()
    return line if len(line) <= MOST_SUBJECT else f"{line[: MOST_SUBJECT - 3]}..."


def _git(repository: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(repository), *words], env=inherited(), capture_output=True, text=True)
    except FileNotFoundError:
        raise EnvironmentMissing("git is not installed; --builds takes builds without it") from None
    if done.returncode:
        raise Invalid(f"{repository}: git {shlex.join(words)}: {(done.stderr.strip() or 'fails').splitlines()[0]}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds commits with a command, each once. The last line that the command prints is the interpreter of the build,
    or a prefix that has `bin/python`."""

    command: str
    repository: Path
    tell: Callable[[str], None]

    def python(self, commit: str) -> Path | None:
        note = self._note(commit)
        if note.exists():
            kept = note.read_text().strip()
            if not kept:
                return None
            if python := _python_of(Path(kept)):
                return python
        self.tell(f"building {commit[:_SHORT]} ...")
        environment = {**inherited(), COMMIT: commit}
        done = subprocess.run(
            ["sh", "-c", self.command], cwd=self.repository, env=environment, stdout=subprocess.PIPE, text=True
        )
        if done.returncode == CANNOT_BUILD:
            self._keep(note, "")
            return None
        lines = done.stdout.split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        python = _python_of(self.repository / last) if last else None
        if done.returncode or python is None:
            code = done.returncode
            why = f"exit code {code}" if code else f"its last line is no interpreter and no prefix: {last[:80]!r}"
            raise EnvironmentMissing(f"--build-command for {commit[:_SHORT]}: {why}")
        self._keep(note, str(python))
        return python

    def _note(self, commit: str) -> Path:
        """The file that keeps where the build of a commit by this command is; empty where it cannot be built."""
        key = hashlib.sha256("\0".join((self.command, str(self.repository.resolve()))).encode()).hexdigest()[:16]
        return installation.cache() / _CACHE / key / commit

    @staticmethod
    def _keep(note: Path, text: str) -> None:
        note.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(note, text.encode())
