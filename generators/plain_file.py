"""Reads the files of a finding or of a case. They may come from untrusted places, so no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LINK = "it is a link, and nothing of a finding or case is read through one"
NO_FILE = "it is neither a file nor a link"

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def read_plain(path: Path) -> bytes:
    """Return the contents of a file. Raise OSError where it cannot be read, or where it or its folder is a link."""
    folder = _opened(path.parent, _FOLDER)
    try:
        with os.fdopen(_opened(path, _FILE, folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, NO_FILE, str(path))
            return file.read()
    finally:
        os.close(folder)


def plain_files(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder, by name; folders in it are left out. Raise OSError where one of the
    files is a link."""
    names = sorted(entry.name for entry in os.scandir(folder) if not entry.is_dir(follow_symlinks=False))
    return {name: read_plain(folder / name) for name in names}


def _opened(path: Path, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(path if folder is None else path.name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and path.is_symlink():
            raise OSError(errno.ELOOP, LINK, str(path)) from None
        raise OSError(error.errno, error.strerror, str(path)) from None
