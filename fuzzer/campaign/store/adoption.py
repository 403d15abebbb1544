"""Copies rows of one campaign's index into the index of another, one origin at a time.

Rows are copied one by one, because a campaign of weeks has more of them than memory holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from fuzzer.campaign.store.numbers import Count
from generators.graph import Invalid

T = TypeVar("T")


class Source(Protocol):
    """An index whose rows are read within limits."""

    def each(self, row: type[T], query: str, *values: object) -> Iterator[T]: ...


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """A query for rows of all origins, and their type, which bounds the numbers in them."""

    type: type[T]
    query: str


COUNTS = Rows(tuple[str, str, Count], "SELECT kind, name, tests FROM counts")
TESTS = Rows(tuple[Count, Count], "SELECT number, cpu_ms FROM tests")
OUTCOMES = Rows(tuple[Count, int, Count, str, str | None], "SELECT test, lane, turn, how, stage FROM outcomes")
OPERATORS = Rows(tuple[str, int, str, Count], "SELECT op, lane, how, outcomes FROM operators")
FEATURES = Rows(tuple[str, Count, Count], "SELECT name, first_test, tests FROM features")
NOTABLE = Rows(tuple[Count, bytes], "SELECT test, document FROM notable_tests")


def check(other: Source) -> None:
    """Read all rows that would be copied. Raise `Invalid` where one has not its type."""
    every: tuple[Rows[Any], ...] = (COUNTS, TESTS, OUTCOMES, OPERATORS, FEATURES, NOTABLE)
    for rows in every:
        for _ in other.each(rows.type, rows.query):
            pass


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one origin of another index, to be copied to the origin `mine` of this index. `lanes` maps the other
    index's lane numbers to the numbers here."""

    other: Source
    origin: int
    mine: int
    lanes: Mapping[int, int]

    def rows(self, rows: Rows[T]) -> Iterator[T]:
        return self.other.each(rows.type, f"{rows.query} WHERE origin = ?", self.origin)

    def lane(self, number: int) -> int:
        if number not in self.lanes:
            raise Invalid(f"the index names a lane {number}, which it does not have")
        return self.lanes[number]


def take_counts(db: sqlite3.Connection, part: Part) -> None:
    counted = ((kind, name, part.mine, tests) for kind, name, tests in part.rows(COUNTS))
    db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", counted)


def take_tests(db: sqlite3.Connection, into: Source, part: Part) -> int:
    """Copy tests and their outcomes; return how many tests are new. `into` is the index of `db`."""
    count = "SELECT count(number) FROM tests WHERE origin = ?"
    ((before,),) = into.each(tuple[int], count, part.mine)
    tests = ((part.mine, *row) for row in part.rows(TESTS))
    db.executemany("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", tests)
    moved = ((part.mine, test, part.lane(lane), *rest) for test, lane, *rest in part.rows(OUTCOMES))
    db.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", moved)
    ((after,),) = into.each(tuple[int], count, part.mine)
    return after - before


def take_sums(db: sqlite3.Connection, part: Part) -> None:
    """Copy the counts by operator, the features and the notable tests. The curve and the failure rates are not copied:
    only the campaign that wrote them reads them."""
    supported = ((part.mine, op, part.lane(lane), how, count) for op, lane, how, count in part.rows(OPERATORS))
    db.executemany("INSERT OR REPLACE INTO operators VALUES (?, ?, ?, ?, ?)", supported)
    features = ((name, part.mine, *rest) for name, *rest in part.rows(FEATURES))
    db.executemany("INSERT INTO features VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING", features)
    notable = ((part.mine, *row) for row in part.rows(NOTABLE))
    db.executemany("INSERT OR REPLACE INTO notable_tests VALUES (?, ?, ?)", notable)
