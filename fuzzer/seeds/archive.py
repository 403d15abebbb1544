"""A zip archive that is not trusted: members are read one by one, into memory, and each within a bound."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath
from types import TracebackType

from generators.graph import Invalid

MAX_MEMBERS = 200_000
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


class Archive:
    """Each method raises `Invalid` with one line that says what is wrong and where."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
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

    def size(self, name: str) -> int:
        return self._zip.getinfo(name).file_size

    def read(self, name: str, most: int) -> bytes:
        """A member of at most so many bytes, whatever the archive says of its size."""
        try:
            with self._zip.open(name) as member:
                data = member.read(most + 1)
        except (KeyError, *_BROKEN) as error:
            raise self._broken(error, name) from None
        if len(data) > most:
            raise Invalid(f"{self._path}: {name} is larger than {most >> 20} MiB")
        return data

    def _broken(self, error: Exception, name: str = "") -> Invalid:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Invalid(f"{self._path}: {name and f'{name}: '}{' '.join(told.split()) or type(error).__name__}")
