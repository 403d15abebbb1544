"""Errors of a disk or network file system that may pass: it was full, read-only for a moment, or it failed once."""

from __future__ import annotations

import errno

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
PASSING = FULL | {errno.EIO, errno.EROFS, errno.EBUSY, errno.ESTALE}
"""SQLite reports a used-up quota as EIO."""

WRONG_FILE = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.EFBIG, errno.ENXIO})
"""There is something else in the place of a file: a directory, a link, a pipe, or far too large a file."""

MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})

NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM})


def is_full(error: BaseException) -> bool:
    """Whether the disk is full, or the user's quota on it is used up."""
    return isinstance(error, OSError) and error.errno in FULL


def may_pass(error: BaseException) -> bool:
    """Whether the same write may succeed later."""
    return isinstance(error, OSError) and error.errno in PASSING


def remedy(error: OSError) -> str:
    """What the user can do about a failure of a file or disk; empty where the error may be a bug of difftvm."""
    if may_pass(error):
        return "what was saved before is intact, so run it again when the disk can be written"
    if error.errno in NOT_ALLOWED:
        return "change the rights of the file or folder, or name another"
    if error.errno == errno.EFBIG and error.filename is None:
        return "raise the limit of the size of a file (`ulimit -f`), and run it again; what was saved before is intact"
    if error.errno in MANY_FILES:
        return "raise the limit of open files (`ulimit -n`), and run it again"
    if error.errno == errno.ENOENT and error.filename is None:  # of getcwd(3), and of Python's search for a folder
        return "change to a directory that exists, or set TMPDIR to a folder that can be written"
    if error.errno in WRONG_FILE and error.filename is not None:
        return "remove it, or name another file or folder"
    return ""
