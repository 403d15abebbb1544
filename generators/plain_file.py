"""Reads the files of a finding, of a case or of a campaign. They may come from untrusted places: no link is followed,
only regular files are read, and their size is bounded."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection
from pathlib import Path

LINK = "it is a link, and nothing of a finding or case is read through one"
NO_FILE = "it is not a regular file"

MOST_BYTES = 160 << 20
"""The largest file that is read, and the most that the files of one folder may have together. The tensors of a case
have at most 64 MiB."""

MOST_DOCUMENT = 12 << 20
"""The largest JSON document: decoded, each of its bytes may take twenty bytes of memory."""

MOST_TEXT = 16 << 20
"""The largest text that is divided into lines."""

MOST_TENSORS = 80 << 20

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def read_plain(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the contents of a file. Raise OSError where it cannot be read, where it or its folder is a link, and where
    it has more than `most` bytes."""
    folder = _opened(path.parent, _FOLDER)
    try:
        descriptor = _opened(path, _FILE, folder)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, NO_FILE, str(path))
            return read_descriptor(descriptor, path, most)
        finally:
            os.close(descriptor)
    finally:
        os.close(folder)


def plain_files(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """Return the contents of the files of a folder that have one of these names, by name. Raise OSError where there is
    a link in the folder, whatever its name is, and where the files are too large together."""
    chosen = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise OSError(errno.ELOOP, LINK, entry.path)
            if entry.name in names:
                chosen.append(entry.name)
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for name in sorted(chosen):
        found[name] = read_plain(folder / name, left)
        left -= len(found[name])
    return found


def read_descriptor(descriptor: int, path: Path, most: int) -> bytes:
    """The contents of an open file. Raise OSError where it has more than `most` bytes. One byte more is asked for,
    because a file may grow while it is read."""
    too_large = OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    if os.fstat(descriptor).st_size > most:  # a file with holes takes no space, and much memory
        raise too_large
    with open(descriptor, "rb", closefd=False) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise too_large
    return data


def _opened(path: Path, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(path if folder is None else path.name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and path.is_symlink():
            raise OSError(errno.ELOOP, LINK, str(path)) from None
        raise OSError(error.errno, error.strerror, str(path)) from None
    except ValueError as error:  # a null byte: documents name folders
        raise OSError(errno.EINVAL, str(error), str(path)) from None
