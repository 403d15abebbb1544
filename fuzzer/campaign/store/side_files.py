"""Checks the files that SQLite reads and writes beside a database, before it opens the database.

SQLite follows links there: it writes the write-ahead log, and truncates the shared memory. A rollback journal may end
with the name of a super-journal, which SQLite deletes, wherever it is. difftvm attaches no database to another, so that
its own journals have no such name.

A rollback journal is written over the database when it is next opened, wherever it came from, and says how large the
database becomes. The databases of difftvm have a write-ahead log instead, from their first page on. So the only
rollback journal that a killed run leaves is of a database that was empty; it passes.
"""

from __future__ import annotations

import stat
from pathlib import Path

from fuzzer.system.files import SECOND_NAME, open_plain
from generators.graph import Invalid
from generators.plain_file import NO_FILE

SUFFIXES = ("-journal", "-wal", "-shm")

_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""A journal ends with these bytes where the name of a super-journal stands before them. It begins with them where it is
complete; SQLite replays no other."""

_SIZE_BEFORE = slice(16, 20)
"""Where a journal says how many pages the database had, at its place in sqlite.org/fileformat."""


def require_own_files(path: Path) -> None:
    """Raise `Invalid` where SQLite could change another file than the database and those beside it."""
    if not is_plain(path):
        raise Invalid(f"{path}: {NO_FILE}")
    if path.exists() and path.stat().st_nlink > 1:
        raise Invalid(f"{path}: {SECOND_NAME}; replace it by a copy")
    for suffix in SUFFIXES:
        _require_own(path.with_name(f"{path.name}{suffix}"))


def is_plain(path: Path) -> bool:
    """Whether SQLite may open the file: it follows links, and waits for pipes."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):  # opening it says what is wrong
        return True


def _require_own(beside: Path) -> None:
    try:
        status = beside.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(status.st_mode):
        raise Invalid(f"{beside}: {NO_FILE}; remove it")
    if status.st_nlink > 1:
        raise Invalid(f"{beside}: {SECOND_NAME}; remove this one")
    if beside.name.endswith("-journal") and _names_another(beside):
        raise Invalid(f"{beside}: it names another file, which SQLite would delete; remove this journal")
    if beside.name.endswith("-journal") and _replaces_pages(beside):
        raise Invalid(
            f"{beside}: SQLite would write it over the database, and difftvm makes no such journal; remove it"
        )


def _names_another(journal: Path) -> bool:
    """Whether it has the name of a super-journal. One that another process has just removed has none."""
    try:
        with open_plain(journal, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - len(_MAGIC)))
            return size > len(_MAGIC) and file.read() == _MAGIC
    except FileNotFoundError:
        return False


def _replaces_pages(journal: Path) -> bool:
    """Whether SQLite would replay it on a database that had pages."""
    try:
        with open_plain(journal, "rb") as file:
            header = file.read(_SIZE_BEFORE.stop)
    except FileNotFoundError:
        return False
    return header.startswith(_MAGIC) and any(header[_SIZE_BEFORE])
