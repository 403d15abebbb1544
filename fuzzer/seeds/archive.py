"""Read a zip archive that is not trusted: its members are read one by one into memory, each within a bound."""

from __future__ import annotations

import errno
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO

from generators.graph import Invalid
from generators.plain_file import NO_FILE

MAX_MEMBERS = 200_000
MAX_READ = 32 << 20
"""The most bytes of one read. zipfile reads the whole list of members at once, before the members can be counted."""
MOST_TIMES = 64
ALWAYS = 1 << 20
"""A member may be `MOST_TIMES` as large as the archive, and has `ALWAYS` bytes always. torch.export.save does not
compress."""

MOST_ARCHIVE = 16 << 30
"""The largest archive that is read, in bytes."""

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def bytes_on_disk(status: os.stat_result) -> int:
    """The bytes that a file has without its holes, which cost nobody anything, and must not permit more work; its size
    where the file system does not say how many blocks it has. At most `MOST_ARCHIVE`."""
    taken = 512 * status.st_blocks or status.st_size
    return min(status.st_size, taken, MOST_ARCHIVE)


class _File(io.BufferedReader):
    """A file that raises where one read would return more than `MAX_READ` bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(MAX_READ + 1 if size is None or size < 0 else min(size, MAX_READ + 1))
        if len(data) > MAX_READ:
            raise zipfile.BadZipFile(f"its list of members has more than {MAX_READ >> 20} MiB")
        return data


class Archive:
    """An open archive. Each method raises `Invalid` with one line that describes what is wrong and where."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = _File(io.FileIO(_opened(path)))
            if (size := os.fstat(self._file.fileno()).st_size) > MOST_ARCHIVE:
                raise ValueError(f"it has {size:,} bytes, more than {MOST_ARCHIVE:,}")
            self._zip = zipfile.ZipFile(self._file)
        except _BROKEN as error:
            raise self._broken(error) from None
        names = self._zip.namelist()
        if len(names) > MAX_MEMBERS:
            raise Invalid(f"{path}: {len(names)} members, more than {MAX_MEMBERS}")
        for name in names:
            if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
                raise Invalid(f"{path}: {name!r} leads out of the archive")
        self.names = frozenset(names)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._zip.close()
        self._file.close()

    def size(self, name: str) -> int:
        return self._zip.getinfo(name).file_size

    def read(self, name: str, most: int) -> bytes:
        """Read a member. Raise `Invalid` where it has more than `most` bytes, whatever size the archive states, or is
        compressed as no model is."""
        most = min(most, max(ALWAYS, MOST_TIMES * bytes_on_disk(os.fstat(self._file.fileno()))))
        try:
            with self._zip.open(name) as member:
                parts = list(_parts(member, most))
        except (KeyError, *_BROKEN) as error:
            raise self._broken(error, name) from None
        if sum(map(len, parts)) > most:
            raise Invalid(f"{self._path}: {name} is larger than {most >> 20} MiB")
        return b"".join(parts)

    def _broken(self, error: Exception, name: str = "") -> Invalid:
        message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Invalid(f"{self._path}: {name and f'{name}: '}{' '.join(message.split()) or type(error).__name__}")


def _opened(path: Path) -> int:
    """Return the descriptor of a regular file. Anything else, as a pipe, could let the reader wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    return descriptor


def _parts(member: IO[bytes], most: int) -> Iterator[bytes]:
    """Yield at most one byte more than `most`."""
    left = most + 1
    while left and (part := member.read(min(left, 1 << 20))):
        left -= len(part)
        yield part
