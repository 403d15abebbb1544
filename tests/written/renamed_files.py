"""Puts the new names of renamed files into documents.

Git says which files were renamed since a commit: by default since the last one, so that a rename is seen before it is
committed. A page names a file by its path, by its module, by its own name alone (`tiers.py`), or by what is in it
(`tiers.run_test`). Other text files, such as the lists of tests, name files by their paths."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from written_text import ROOT

KEPT = ("crashes/", "corpus/", "tests/decoder_corpus/")
"""What these have was saved once, and stays."""

TEXTS = (".md", ".py", ".toml", ".txt", ".ini", ".yml", ".sh", "Makefile", "Dockerfile")


class NoGit(Exception):
    """There is no git, or no clone."""


def renamed(since: str = "HEAD", root: Path = ROOT) -> dict[str, str]:
    """The files that were renamed since a commit, also those that nobody has added yet: old path, new path. Raise
    `NoGit` where git cannot say it."""
    if shutil.which("git") is None:
        raise NoGit("there is no git on PATH")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GIT_INDEX_FILE": str(Path(folder, "index"))}  # the user's index stays

        def git(*words: str) -> str:
            done = subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True, text=True)
            if done.returncode:
                raise NoGit(done.stderr.strip())
            return done.stdout

        git("read-tree", since)
        git("add", "--all")
        lines = git("diff", "--cached", "--find-renames", "--diff-filter=R", "--name-status", "-z", since).split("\0")
    return dict(zip(lines[1::3], lines[2::3], strict=False))


def files(root: Path = ROOT) -> Iterator[str]:
    """The text files in which names of files are mended."""
    folders = ("docs", "tests", "benchmarks", "fuzzer", "generators", "oracles", "difftvm", "crashes", "corpus")
    found = [path for path in root.iterdir() if path.is_file()]
    found += [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(found):
        name = path.relative_to(root).as_posix()
        if name.endswith(TEXTS) and (name.endswith("README.md") or not name.startswith(KEPT)):
            yield name


def with_new_names(name: str, text: str, moved: Mapping[str, str], present: frozenset[str]) -> str:
    """The text of a file, with the new names. `present` are the names of the project's Python files, without folders:
    a file's own name alone says nothing where another file has it."""
    for old, new in moved.items():
        text = re.sub(rf"(?<![\w./-])((?:\.\./)*){re.escape(old)}(?!\w)", rf"\g<1>{new}", text)
        if name.endswith(".md") and old.endswith(".py") and new.endswith(".py"):
            text = re.sub(rf"(?<![\w./-]){re.escape(_module(old))}(?!\w)", _module(new), text)
            before, after = PurePosixPath(old), PurePosixPath(new)
            if before.name != after.name and before.name not in present:
                text = re.sub(rf"`{re.escape(before.name)}`", f"`{after.name}`", text)
                inside = r"(?!py`|md`)[a-zA-Z_]\w*(?:\(\))?`"
                text = re.sub(rf"`{re.escape(before.stem)}\.(?={inside})", f"`{after.stem}.", text)
    return text


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def mend(moved: Mapping[str, str], root: Path = ROOT) -> list[str]:
    """Write the new names. Return the files that have changed."""
    changed = []
    present = frozenset(PurePosixPath(name).name for name in files(root) if name.endswith(".py"))
    for name in files(root):
        text = (root / name).read_text()
        new = with_new_names(name, text, moved, present)
        if new != text:
            (root / name).write_text(new)
            changed.append(name)
    return changed
