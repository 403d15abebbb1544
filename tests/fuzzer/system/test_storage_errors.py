"""What the user can do about a failure of a file or disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.system.storage_errors import may_pass, remedy

PASSES = "what was saved before is intact, so run it again when the disk can be written"
RIGHTS = "change the rights of the file or folder, or name another"
ANOTHER = "remove it, or name another file or folder"


@pytest.mark.parametrize(
    ("number", "passes", "expected"),
    [
        (errno.ENOSPC, True, PASSES),
        (errno.EDQUOT, True, PASSES),
        (errno.EROFS, True, PASSES),
        (errno.EACCES, False, RIGHTS),
        (errno.EISDIR, False, ANOTHER),
        (errno.EINVAL, False, ANOTHER),
        (errno.EMFILE, False, "raise the limit of open files (`ulimit -n`), and run it again"),
        (errno.ENOENT, False, ""),
        (errno.EBADF, False, ""),
    ],
)
def test_remedy(number: int, passes: bool, expected: str) -> None:
    error = OSError(number, "words", "a.txt")
    assert (may_pass(error), remedy(error)) == (passes, expected)


def test_an_invalid_argument_that_concerns_no_file_is_a_bug() -> None:
    assert remedy(OSError(errno.EINVAL, "Invalid argument")) == ""


def test_a_file_beyond_the_limit_of_the_process_is_no_bug() -> None:
    """The error of a write names no file."""
    assert "`ulimit -f`" in remedy(OSError(errno.EFBIG, "File too large"))


@pytest.mark.parametrize("look", [os.getcwd, tempfile.gettempdir])
def test_a_missing_working_directory_or_folder_for_temporary_files_is_no_bug(
    look: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)  # it is searched again
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "gone")])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError) as error:
        look()
    assert "TMPDIR" in remedy(error.value)
