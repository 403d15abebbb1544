"""What the user can do about a failure of a file or disk."""

from __future__ import annotations

import errno

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
        (errno.ENOENT, False, ""),
        (errno.EBADF, False, ""),
    ],
)
def test_remedy(number: int, passes: bool, expected: str) -> None:
    error = OSError(number, "words", "a.txt")
    assert (may_pass(error), remedy(error)) == (passes, expected)


def test_an_invalid_argument_that_concerns_no_file_is_a_bug() -> None:
    assert remedy(OSError(errno.EINVAL, "Invalid argument")) == ""
