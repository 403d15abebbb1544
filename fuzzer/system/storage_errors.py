"""Errors of a disk or network file system that may pass: it was full, read-only for a moment, or it failed once."""

from __future__ import annotations

import errno

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
PASSING = FULL | {errno.EIO, errno.EROFS, errno.EBUSY, errno.ESTALE}
"""SQLite reports a used-up quota as EIO."""

WRONG_FILE = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.EFBIG, errno.ENXIO})
"""There is something else in the place of a file: a directory, a link, a pipe, or far too large a file."""

NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM})


def is_full(error: BaseException) -> bool:
    """Whether the disk is full, or the user's quota on it is used up."""
    return isinstance(error, OSError) and error.errno in FULL


def may_pass(error: BaseException) -> bool:
    """Whether the same write may succeed later."""
    return isinstance(error, OSError) and error.errno in PASSING


def is_of_the_storage(error: BaseException) -> bool:
    """Whether the user can mend the error: by space, by rights, by another file or folder."""
    return may_pass(error) or (isinstance(error, OSError) and error.errno in NOT_ALLOWED | WRONG_FILE)
