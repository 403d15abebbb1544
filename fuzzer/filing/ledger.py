"""The ledger of filed issues: one SQLite database for all campaigns of a user.

All campaigns share it, because two of them may find the same bug and only one may file it. An intent is saved before a
request is sent, and the result after it. A process that dies in between leaves the intent, and the next process asks
the tracker about it (`write_once.py`).

    issues    one row for each finding that was filed, or was going to be, at a place; (place, fingerprint) is its key
    comments  one row for each comment; (place, number, release) is its key
    pauses    places where filing is paused, or was paused earlier

A place is a repository of a server: `api.github.com/apache/tvm`. One process files at a time. It holds a file lock
(flock), which the kernel releases when the process dies. File locks and write-ahead logs need a local disk.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from fuzzer.campaign.store.side_files import require_own_files
from fuzzer.campaign.store.trust import bound, version_of, why_not_trusted
from fuzzer.filing.url_form import UrlOrNone
from fuzzer.system.files import open_plain
from fuzzer.system.state_folder import state_folder
from generators.graph import Invalid

T = TypeVar("T")

FORMAT = 1
BUSY_SECONDS = 30.0

_SCHEMA = """
CREATE TABLE issues (
  place TEXT NOT NULL, fingerprint TEXT NOT NULL, nonce TEXT NOT NULL, title TEXT NOT NULL, finding TEXT NOT NULL,
  release TEXT NOT NULL, intended REAL NOT NULL, step TEXT NOT NULL CHECK (step IN ('intended', 'filed', 'refused')),
  number INTEGER, url TEXT NOT NULL, told TEXT NOT NULL,
  etag TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, labels TEXT NOT NULL, looked REAL NOT NULL,
  PRIMARY KEY (place, fingerprint), CHECK ((step = 'filed') = (number IS NOT NULL)));
CREATE TABLE comments (
  place TEXT NOT NULL, number INTEGER NOT NULL, release TEXT NOT NULL, nonce TEXT NOT NULL, body TEXT NOT NULL,
  intended REAL NOT NULL, url TEXT NOT NULL, PRIMARY KEY (place, number, release));
CREATE TABLE pauses (place TEXT PRIMARY KEY, why TEXT NOT NULL, since REAL NOT NULL);
"""


class Step(StrEnum):
    """How far the filing of an issue got."""

    INTENDED = "intended"  # a request may have been sent; the result is unknown
    FILED = "filed"
    REFUSED = "refused"  # the tracker refused the request, or never got it


class State(StrEnum):
    """The state of an issue in the tracker's last answer."""

    UNSEEN = "unseen"
    OPEN = "open"
    CLOSED = "closed"
    GONE = "gone"  # deleted or moved


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A row of `issues`. Times are seconds since 1970.

    nonce    a random word in the issue's body, by which the issue is recognised
    finding  the folder of the finding
    release  the newest release of TVM in which the finding failed
    intended when the intent was saved
    refusal  why the tracker refused the issue; the column `told`
    etag     the ETag of the tracker's last answer
    reason   why the issue was closed
    looked   when the tracker was last asked about the issue
    """

    place: str
    fingerprint: str
    nonce: str
    title: str
    finding: str
    release: str
    intended: float
    step: Step = Step.INTENDED
    number: int | None = None
    url: UrlOrNone = ""
    refusal: str = ""
    etag: str = ""
    state: State = State.UNSEEN
    reason: str = ""
    labels: tuple[str, ...] = ()
    looked: float = 0.0


@dataclass(frozen=True, slots=True)
class Comment:
    """A row of `comments`. `url` is "" until the comment is known to exist."""

    place: str
    number: int
    release: str
    nonce: str
    body: str
    intended: float
    url: UrlOrNone = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """A row of `pauses`. `why` is "" after the pause was ended. `since` is when the pause began or ended."""

    why: str
    since: float


def default_path() -> Path:
    return state_folder() / "filed.sqlite"


def filed_issues(path: Path) -> dict[str, LedgerEntry]:
    """Return the filed issues of all places by fingerprint, the newest of each; none where nothing was ever filed.
    Raise `Invalid` if this version cannot read the ledger."""
    if not path.exists():
        return {}
    with Ledger(path) as ledger:
        return {entry.fingerprint: entry for entry in ledger.entries()}


class Ledger:
    """The open database. Only the thread that opened it may use it."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Open the database, or make it. Raise `Invalid` if this version cannot read it."""
        self.path = path
        self.clock = clock
        try:
            require_own_files(path)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            self._rows = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except Invalid as error:
            raise Invalid(f"{error}; name another with --ledger") from None
        except (OSError, sqlite3.Error) as error:
            raise Invalid(f"{path}: {error}") from None
        try:
            with self.exclusive():  # a change of the journal's mode does not wait for SQLite's timeout
                self._prepare()
        except (OSError, sqlite3.Error, UnicodeDecodeError, Invalid) as error:
            self._rows.close()
            raise Invalid(f"{path}: {error}; name another with --ledger") from None

    def _prepare(self) -> None:
        bound(self._rows)
        self._rows.execute("PRAGMA journal_mode = WAL")
        self._rows.execute("PRAGMA synchronous = FULL")  # an intent must be on the disk before anything is sent
        with self._transaction():
            found = version_of(self._rows)
            if found == 0:
                for statement in _SCHEMA.split(";\n"):
                    self._rows.execute(statement)
                self._rows.execute(f"PRAGMA user_version = {FORMAT}")
            elif found != FORMAT:
                raise Invalid(f"format {found} is not known; this version reads {FORMAT}")
            if reason := why_not_trusted(self._rows, _SCHEMA):
                raise Invalid(reason)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._rows.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._rows.execute("ROLLBACK")
            raise
        self._rows.execute("COMMIT")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the file lock, so that no other process files at any place. Wait for a process that holds it."""
        with open_plain(self.path.with_name(f"{self.path.name}.lock"), "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # Issues

    def entry(self, place: str, fingerprint: str) -> LedgerEntry | None:
        found = self._issues("place = ? AND fingerprint = ?", place, fingerprint)
        return found[0] if found else None

    def entries(self, place: str | None = None, step: Step = Step.FILED) -> list[LedgerEntry]:
        """The entries of a place, or of all places, in the order of their intents."""
        if place is None:
            return self._issues("step = ?", step)
        return self._issues("step = ? AND place = ?", step, place)

    def sent_today(self, place: str) -> int:
        """The number of issues that were filed on this day (UTC), those with an unknown result included."""
        today = datetime.fromtimestamp(self.clock(), UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        begin, end = today.timestamp(), (today + timedelta(days=1)).timestamp()
        sent = (*self.entries(place), *self.entries(place, Step.INTENDED))
        return sum(begin <= entry.intended < end for entry in sent)

    def intend(self, entry: LedgerEntry) -> None:
        """Save an intent, before a request is sent. It replaces a refused entry. Raise
        `sqlite3.IntegrityError` if there is any other entry."""
        with self._transaction():
            self._rows.execute(
                "DELETE FROM issues WHERE place = ? AND fingerprint = ? AND step = 'refused'",
                (entry.place, entry.fingerprint),
            )
            marks = ", ".join("?" * len(fields(LedgerEntry)))
            self._rows.execute(f"INSERT INTO issues VALUES ({marks})", _row(entry))

    def filed(self, entry: LedgerEntry, number: int, url: str) -> None:
        self._update(entry, "step = 'filed', number = ?, url = ?", number, url)

    def refused(self, entry: LedgerEntry, reason: str) -> None:
        self._update(entry, "step = 'refused', told = ?", reason)

    def record_state(self, entry: LedgerEntry, state: State, reason: str, labels: tuple[str, ...], etag: str) -> None:
        values = (state, reason, json.dumps(labels), etag, self.clock())
        self._update(entry, "state = ?, reason = ?, labels = ?, etag = ?, looked = ?", *values)

    def fails_in(self, entry: LedgerEntry, release: str) -> None:
        self._update(entry, "release = ?", release)

    def _update(self, entry: LedgerEntry, what: str, *values: object) -> None:
        with self._transaction():
            key = (entry.place, entry.fingerprint)
            self._rows.execute(f"UPDATE issues SET {what} WHERE place = ? AND fingerprint = ?", (*values, *key))

    def _issues(self, where: str, *values: object) -> list[LedgerEntry]:
        query = f"SELECT * FROM issues WHERE {where} ORDER BY intended, fingerprint"
        return self._selected(_entry, query, *values)

    def _selected(self, read: Callable[[tuple[Any, ...]], T], query: str, *values: object) -> list[T]:
        """The rows of a query. Raise `Invalid` where they cannot be read."""
        try:
            return [read(row) for row in self._rows.execute(query, values).fetchall()]
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Invalid:
        return Invalid(f"{self.path}: {error}; name another with --ledger")

    # Comments

    def comments(self, place: str, number: int) -> list[Comment]:
        query = "SELECT * FROM comments WHERE place = ? AND number = ? ORDER BY intended"
        return self._selected(_comment, query, place, number)

    def intend_comment(self, comment: Comment) -> None:
        with self._transaction():
            self._rows.execute("INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(comment))

    def commented(self, comment: Comment, url: str) -> None:
        key = (comment.place, comment.number, comment.release)
        with self._transaction():
            self._rows.execute(
                "UPDATE comments SET url = ? WHERE place = ? AND number = ? AND release = ?", (url, *key)
            )

    def forget_comment(self, comment: Comment) -> None:
        """Remove a comment that was not written."""
        self._change_comment("DELETE FROM comments", comment)

    def _change_comment(self, what: str, comment: Comment, *values: object) -> None:
        key = (comment.place, comment.number, comment.release)
        with self._transaction():
            self._rows.execute(f"{what} WHERE place = ? AND number = ? AND release = ?", (*values, *key))

    # Pauses

    def pause(self, place: str) -> Pause | None:
        found = self._selected(_pause, "SELECT why, since FROM pauses WHERE place = ?", place)
        return found[0] if found else None

    def set_pause(self, place: str, why: str) -> None:
        with self._transaction():
            self._rows.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?, ?)", (place, why, self.clock()))


def _row(entry: LedgerEntry) -> tuple[Any, ...]:
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    return tuple({**values, "labels": json.dumps(entry.labels)}.values())


def _entry(row: tuple[Any, ...]) -> LedgerEntry:
    values = _by_name(LedgerEntry, row)
    labels = msgspec.json.decode(values["labels"], type=tuple[str, ...])
    return msgspec.convert({**values, "labels": labels}, LedgerEntry)


def _comment(row: tuple[Any, ...]) -> Comment:
    return msgspec.convert(_by_name(Comment, row), Comment)


def _pause(row: tuple[Any, ...]) -> Pause:
    return msgspec.convert(_by_name(Pause, row), Pause)


def _by_name(form: Any, row: tuple[Any, ...]) -> dict[str, Any]:
    """The columns of a row by the names of fields, to be converted: SQLite lets every column hold every type."""
    return dict(zip((field.name for field in fields(form)), row, strict=True))
