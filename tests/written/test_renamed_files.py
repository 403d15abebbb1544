"""Documents get the new names of renamed files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from renamed_files import NoGit, mend, renamed, with_new_names

MOVED = {"fuzzer/a/old.py": "fuzzer/b/new.py"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("See `fuzzer/a/old.py`.", "See `fuzzer/b/new.py`."),
        ("[x](../fuzzer/a/old.py)", "[x](../fuzzer/b/new.py)"),
        ("python -m fuzzer.a.old, fuzzer.a.old.main", "python -m fuzzer.b.new, fuzzer.b.new.main"),
        ("(`old.py`), `old.run`, `old.run()`", "(`new.py`), `new.run`, `new.run()`"),
        ("fuzzer/a/old.pyc, my-fuzzer/a/old.py, old.run, `older.py`", None),
    ],
)
def test_each_way_to_name_a_file_on_a_page(before: str, after: str | None) -> None:
    assert with_new_names("docs/a.md", before, MOVED, frozenset()) == (after or before)


def test_a_name_that_another_file_has_says_nothing() -> None:
    assert with_new_names("docs/a.md", "`old.py` fuzzer/a/old.py", MOVED, frozenset({"old.py"})) == (
        "`old.py` fuzzer/b/new.py"
    )


def test_code_has_paths_alone_mended() -> None:
    text = 'FILE = "fuzzer/a/old.py"\nimport fuzzer.a.old\n'
    assert with_new_names("tests/a.py", text, MOVED, frozenset()) == text.replace("fuzzer/a/old.py", "fuzzer/b/new.py")


def test_files_are_mended_but_for_what_is_kept_as_it_was(tmp_path: Path) -> None:
    for name in ("README.md", "docs/a.md", "crashes/README.md", "crashes/x/issue.md", "fuzzer/b/new.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("`fuzzer/a/old.py`")
    assert mend(MOVED, tmp_path) == ["README.md", "crashes/README.md", "docs/a.md", "fuzzer/b/new.py"]
    assert (tmp_path / "crashes/x/issue.md").read_text() == "`fuzzer/a/old.py`"


def test_without_git_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoGit, match="there is no git on PATH"):
        renamed(root=tmp_path)


@pytest.mark.programs("git")
def test_without_a_clone_git_cannot_say_it(tmp_path: Path) -> None:
    with pytest.raises(NoGit):
        renamed(root=tmp_path)


@pytest.mark.programs("git")
def test_a_rename_is_found_before_and_after_it_is_committed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    (tmp_path / "old.py").write_text("".join(f"line {number}\n" for number in range(20)))
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    (tmp_path / "old.py").rename(tmp_path / "new.py")
    assert renamed(root=tmp_path) == {"old.py": "new.py"}
    git("add", "--all")
    git("commit", "--quiet", "--message", "second")
    assert renamed(root=tmp_path) == {}
    assert renamed("HEAD~1", tmp_path) == {"old.py": "new.py"}
