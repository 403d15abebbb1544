"""Copies rows of one campaign's index into the index of another, one origin at a time.

Rows are copied one by one, because a campaign of weeks has more of them than memory holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from generators.graph import Invalid

T = TypeVar("T")


class Source(Protocol):
    """An index whose rows are read within limits."""

    def each(self, row: type[T], query: str, *values: object) -> Iterator[T]: ...


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one origin of another index, to be copied to the origin `mine` of this index. `lanes` maps the other
    index's lane numbers to the numbers here."""

    other: Source
    origin: int
    mine: int
    lanes: Mapping[int, int]

    def rows(self, row: type[T], query: str) -> Iterator[T]:
        return self.other.each(row, f"{query} WHERE origin = ?", self.origin)

    def lane(self, number: int) -> int:
        if number not in self.lanes:
            raise Invalid(f"the index names a lane {number}, which it does not have")
        return self.lanes[number]


def take_counts(db: sqlite3.Connection, part: Part) -> None:
    rows = part.rows(tuple[str, str, int], "SELECT kind, name, tests FROM counts")
    counted = ((kind, name, part.mine, tests) for kind, name, tests in rows)
    db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", counted)


def take_tests(db: sqlite3.Connection, into: Source, part: Part) -> int:
    """Copy tests and their outcomes; return how many tests are new. `into` is the index of `db`."""
    count = "SELECT count(number) FROM tests WHERE origin = ?"
    ((before,),) = into.each(tuple[int], count, part.mine)
    tests = ((part.mine, *row) for row in part.rows(tuple[int, int], "SELECT number, cpu_ms FROM tests"))
    db.executemany("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", tests)
    outcomes = part.rows(tuple[int, int, int, str, str | None], "SELECT test, lane, turn, how, stage FROM outcomes")
    moved = ((part.mine, test, part.lane(lane), *rest) for test, lane, *rest in outcomes)
    db.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", moved)
    ((after,),) = into.each(tuple[int], count, part.mine)
    return after - before


def take_sums(db: sqlite3.Connection, part: Part) -> None:
    """Copy the counts by operator, the features and the notable tests. The curve and the failure rates are not copied:
    only the campaign that wrote them reads them."""
    counts = part.rows(tuple[str, int, str, int], "SELECT op, lane, how, outcomes FROM operators")
    supported = ((part.mine, op, part.lane(lane), how, count) for op, lane, how, count in counts)
    db.executemany("INSERT OR REPLACE INTO operators VALUES (?, ?, ?, ?, ?)", supported)
    found = part.rows(tuple[str, int, int], "SELECT name, first_test, tests FROM features")
    features = ((name, part.mine, *rest) for name, *rest in found)
    db.executemany("INSERT INTO features VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING", features)
    documents = part.rows(tuple[int, bytes], "SELECT test, document FROM notable_tests")
    notable = ((part.mine, *row) for row in documents)
    db.executemany("INSERT OR REPLACE INTO notable_tests VALUES (?, ?, ?)", notable)
