"""What one campaign's index takes over of another's, an origin at a time. Rows go one by one: a campaign of weeks has
more of them than memory holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Source(Protocol):
    """The other index."""

    def each(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class Part:
    """What `mine` is to take over of an origin of another index; `lanes` from the other's numbers to one's own."""

    other: Source
    origin: int
    mine: int
    lanes: Mapping[int, int]

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        return self.other.each(f"{query} WHERE origin = ?", self.origin)

    def lane(self, number: int) -> int:
        return self.lanes[number]


def take_counts(db: sqlite3.Connection, part: Part) -> None:
    rows = part.rows("SELECT kind, name, tests FROM counts")
    counted = ((kind, name, part.mine, tests) for kind, name, tests in rows)
    db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", counted)


def take_tests(db: sqlite3.Connection, part: Part) -> int:
    """How many are new."""
    count = "SELECT count(*) FROM tests WHERE origin = ?"
    (before,) = db.execute(count, (part.mine,)).fetchone()
    tests = ((part.mine, *row) for row in part.rows("SELECT number, cpu_ms FROM tests"))
    db.executemany("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", tests)
    outcomes = part.rows("SELECT test, lane, turn, how, stage FROM outcomes")
    moved = ((part.mine, test, part.lane(lane), *rest) for test, lane, *rest in outcomes)
    db.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", moved)
    return int(db.execute(count, (part.mine,)).fetchone()[0] - before)


def take_sums(db: sqlite3.Connection, part: Part) -> None:
    """Without its curve, and the failure_rates that it goes by: these are read by the campaign itself alone."""
    held = part.rows("SELECT op, lane, how, outcomes FROM operators")
    supported = ((part.mine, op, part.lane(lane), how, count) for op, lane, how, count in held)
    db.executemany("INSERT OR REPLACE INTO operators VALUES (?, ?, ?, ?, ?)", supported)
    seen = ((name, part.mine, *rest) for name, *rest in part.rows("SELECT name, first_test, tests FROM features"))
    db.executemany("INSERT INTO features VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING", seen)
