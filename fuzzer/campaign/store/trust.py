"""What bounds the work of SQLite on a file that somebody else may have written.

An expression in a schema (a view, a trigger, a CHECK, a computed column, an index) is code that SQLite runs. So a file
must have exactly the schema that difftvm makes. A tree whose pages name each other has rows without end, and so each
query has a limit of time.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache

MOST_VALUE = 16 << 20
"""The most bytes of a value or row."""

MOST_SECONDS = 10.0
"""The most CPU seconds in which a reader waits for one row."""

MOST_SECONDS_IN_ALL = 600.0
"""The most CPU seconds of a check of a whole file, or of a transaction."""

STEPS = 1000
"""SQLite asks so often, in steps of its machine, whether a query has taken too long. One step may take 20 ms: a
function may make a value of `MOST_VALUE` bytes."""

_Entry = tuple[str, str, str, str | None]
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def bound(db: sqlite3.Connection) -> None:
    """Let no function run that the file names, and bound the size of a value."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def version_of(db: sqlite3.Connection) -> int:
    with closing(db.execute("PRAGMA user_version")) as cursor:
        return int(cursor.fetchone()[0])


def why_not_trusted(db: sqlite3.Connection, *scripts: str) -> str:
    """Why the schema is not what these scripts make in an empty file, as "it has the view 'x', which difftvm does not
    make"; "" where it is."""
    expected = _made_by(scripts)
    with closing(db.execute(_SCHEMA)) as cursor:
        found = set()
        for entry in cursor:
            if entry not in expected:
                kind, name, *_ = entry
                if any((kind, name) == (known, its) for known, its, *_ in expected):
                    return f"its {kind} {str(name)[:60]!r} is not as difftvm makes it"
                return f"it has the {str(kind)[:60]} {str(name)[:60]!r}, which difftvm does not make"
            found.add(entry)
    missing = sorted(name for _, name, *_ in expected - found)
    return f"it has no {missing[0]!r}" if missing else ""


@cache
def _made_by(scripts: tuple[str, ...]) -> frozenset[_Entry]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript("".join(scripts))
        return frozenset(db.execute(_SCHEMA))


LEAST_ROW = 4
"""Bytes of a file that a row takes at least: its size, the sizes of its header and values, and where it begins."""


def most_rows(db: sqlite3.Connection) -> int:
    """How many rows a table may have at most, by the size of the file."""
    (pages,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(size) // LEAST_ROW


class TimeLimit:
    """Ends a query of a connection that takes too long, with the error SQLITE_INTERRUPT.

    CPU seconds of this process count, so that a slow disk, or a process that was stopped, is no reason."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._end: float | None = None
        db.set_progress_handler(self._is_over, STEPS)

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """The limit within this context. Within another one, that one's time goes on after it."""
        before, self._end = self._end, time.process_time() + seconds
        try:
            yield
        finally:
            self._end = before

    def _is_over(self) -> bool:
        return self._end is not None and time.process_time() > self._end
