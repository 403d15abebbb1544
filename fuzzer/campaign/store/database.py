"""Opens SQLite files that others may have written, and says what an error of SQLite means.

SQLite reports a damaged file, a full disk and a lock of another process in one family of errors. The user needs a
different remedy for each.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from shlex import quote

import msgspec

from fuzzer.campaign.store.schema import MIGRATIONS
from fuzzer.campaign.store.side_files import require_own_files
from fuzzer.campaign.store.trust import bound, version_of, why_not_trusted
from fuzzer.system.files import sync_folder
from fuzzer.system.terminal import campaign_option, command
from generators.graph import Invalid

SYNCHRONOUS = "FULL"
"""How SQLite waits for the disk: a commit survives a loss of power."""

_TROUBLE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
    sqlite3.SQLITE_PROTOCOL: errno.EBUSY,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
}
"""By error code of SQLite, the errno of failures of the machine. These are no damage, and may be temporary."""


def of_the_machine(error: sqlite3.OperationalError, path: Path) -> OSError | None:
    """The error of the machine that SQLite reports; None where the file is at fault."""
    code = code_of(error) & 0xFF
    number = _why_not_opened(path) if code == sqlite3.SQLITE_CANTOPEN else _TROUBLE.get(code)
    return OSError(number, f"{error}; nothing that was written before is lost", str(path)) if number else None


def is_of_the_machine(error: sqlite3.OperationalError) -> bool:
    code = code_of(error) & 0xFF
    return code == sqlite3.SQLITE_CANTOPEN or code in _TROUBLE


def code_of(error: sqlite3.Error) -> int:
    """SQLite's code; 0 where Python's module raised the error, such as for a text that is not UTF-8."""
    return getattr(error, "sqlite_errorcode", 0)


def _why_not_opened(path: Path) -> int:
    """The errno for a file that SQLite cannot open or make. It does not say why."""
    try:
        path.open("rb").close()
    except FileNotFoundError:
        pass
    except OSError as error:
        return error.errno or errno.EIO
    return errno.EIO if os.access(path.parent, os.W_OK) else errno.EACCES  # the file, or one beside it


class Empty(Invalid):
    """Nothing was ever committed to the file: a run has just begun, or was stopped before its first commit."""

    def __init__(self, path: Path) -> None:
        again = command("run", *campaign_option(path.parent))
        super().__init__(f"{path}: nothing was committed to it yet; `{again}` continues the campaign")


_DAMAGE = (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, MemoryError)
"""SQLite has no memory, too, for some damaged headers."""


class damaged_is_invalid:  # noqa: N801 - a context manager, used like contextlib's
    """Turns errors of SQLite into `Invalid` with the remedy where the file is damaged, and into `OSError` where the
    machine failed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.OperationalError) and code_of(error) == sqlite3.SQLITE_INTERRUPT:
            raise Invalid(f"{self._path}: a query takes too long; is it an index of difftvm?") from None
        if isinstance(error, sqlite3.OperationalError) and (trouble := of_the_machine(error, self._path)):
            raise trouble from error
        if isinstance(error, _DAMAGE):
            why = str(error) or "SQLite has no memory for what it says"
            raise Invalid(f"{self._path}: {why}; {_remedy(self._path)}") from error


def _remedy(path: Path) -> str:
    return f"`fuzz status --repair --campaign {quote(str(path.parent))}` rebuilds it from the files"


def connected(path: Path, writes: bool) -> sqlite3.Connection:
    require_own_files(path)
    if not writes and _has_pages(path.with_name(f"{path.name}-journal")):
        raise Empty(path)  # SQLite uses this journal before the write-ahead log, which has the first commit
    try:
        return _opened(path, "" if writes else _how_to_read(path), writes)
    except sqlite3.OperationalError as error:
        if writes or _has_pages(path.with_name(f"{path.name}-wal")) or not is_of_the_machine(error):
            raise
        return _opened(path, AS_IT_IS, writes)  # on a full disk, SQLite cannot make the files that readers share


def _opened(path: Path, how: str, writes: bool) -> sqlite3.Connection:
    db = sqlite3.connect(path.resolve().as_uri() + how, uri=True, check_same_thread=False, timeout=30)
    try:
        bound(db)
        version = _trusted_version(db, path)
        if writes:
            _prepare_to_write(db, version, path)
        else:
            _require_newest(version, path)
    except BaseException:
        db.close()
        raise
    return db


def _has_pages(journal: Path) -> bool:
    return journal.exists() and journal.stat().st_size > 0


def _how_to_read(path: Path) -> str:
    """How SQLite opens the file to read it. In a folder that cannot be written it reads no journal, and makes no file
    beside it. Raise `Invalid` where there is a journal to read."""
    if os.access(path.parent, os.W_OK):
        return "?mode=ro"
    journal = path.with_name(f"{path.name}-wal")
    if _has_pages(journal):
        raise Invalid(f"{path}: a killed run has left {journal.name}; copy the folder to where it can be written")
    return AS_IT_IS


AS_IT_IS = "?mode=ro&immutable=1"
"""How SQLite opens a file that no process writes: it looks for no lock and no journal."""


def _trusted_version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the schema. Raise `Invalid` where it is not as that version makes it, or newer than this one."""
    db.execute("BEGIN")  # another process may make the schema meanwhile
    version = version_of(db)
    reason = why_not_trusted(db, *MIGRATIONS[: max(version, 0)])
    db.rollback()
    if version > len(MIGRATIONS):
        raise Invalid(f"{path}: schema {version} is newer than this version of difftvm reads (up to {len(MIGRATIONS)})")
    if reason:
        raise Invalid(f"{path}: {reason}; {_remedy(path)}")
    return max(version, 0)


def _require_newest(version: int, path: Path) -> None:
    if version == 0:
        raise Empty(path)
    if version < len(MIGRATIONS):
        raise Invalid(f"{path}: schema {version} is older than this version; `fuzz status --repair` brings it up")


def _prepare_to_write(db: sqlite3.Connection, version: int, path: Path) -> None:
    db.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only changes a file that is new
    db.execute("PRAGMA journal_mode = WAL")
    if version == 0:
        sync_folder(path.parent)  # else the journal of the first page may be back after a loss of power
    db.execute("PRAGMA cache_size = -500")  # KiB: rows are appended, and the system caches the file
    if version < len(MIGRATIONS):  # in one transaction, so that no reader meets a schema in between
        steps = "".join(MIGRATIONS[version:])
        db.executescript(f"BEGIN; {steps} PRAGMA user_version = {len(MIGRATIONS)}; COMMIT;")
