"""The index of a campaign: one SQLite file with what was run and how it ended.

`fuzz status --repair` can rebuild the counters and the findings from the files beside it. Rows of single tests,
features and failure rates exist only here. With the write-ahead log and synchronous=FULL, a commit survives a loss of
power, and readers in other processes never wait. One process writes: the one that holds the lock of the campaign.

Each row has an origin, the campaign that it comes from. The campaign's own rows have `OWN`; each campaign that was
merged into it has a number of its own.
"""

from __future__ import annotations

import errno
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fuzzer.campaign.store import adoption, notable_tests
from fuzzer.campaign.store.adoption import Part
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.database import code_of, connected, damaged_is_invalid, of_the_machine
from fuzzer.campaign.store.notable_tests import NO_DOCUMENTS, Documents
from fuzzer.campaign.store.numbers import Count
from fuzzer.campaign.store.rows import NO_OBSERVATIONS, FailureRate, IndexRow, Observations, in_turn
from fuzzer.campaign.store.schema import MIGRATIONS
from fuzzer.campaign.store.side_files import require_own_files
from fuzzer.campaign.store.state import Seed, State
from fuzzer.campaign.store.trust import (
    MOST_SECONDS,
    MOST_SECONDS_IN_ALL,
    TimeLimit,
    bound,
    most_rows,
    version_of,
    why_not_trusted,
)
from generators.graph import Invalid
from oracles.lane import Importer

NAME = "index.sqlite"
OWN = 1
NAMELESS = ""
"""The name of an index that only contains the rows of other campaigns."""

PROGRESS_SECONDS = 30

T = TypeVar("T")

FEW = 100
"""The rows of this number of newest tests are never deleted: `fuzz status` computes the health of lanes from them."""


class Index:
    """An open index. Raise `Invalid` where the file is no index, is damaged, or is newer than this version."""

    def __init__(self, folder: Path, *, writes: bool = True) -> None:
        self.path = folder / NAME
        self._guard = damaged_is_invalid(self.path)
        with self._guard:
            self._db = connected(self.path, writes)
        self._limit = TimeLimit(self._db)
        self._lanes: dict[str, int] = {}
        self._operators: Counter[tuple[str, str, str]] = Counter()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            if self._operators:
                with self._guard, self._db as db:
                    self._count_operators(db)
        finally:
            self._db.close()

    # --- written by the process that holds the lock

    def write(
        self,
        state: State,
        tests: Iterable[IndexRow] = (),
        findings: Mapping[str, str] | None = None,
        observations: Observations = NO_OBSERVATIONS,
        documents: Documents = NO_DOCUMENTS,
    ) -> None:
        """Write the state of the campaign in one transaction. `findings` has the slugs of findings by signature, and
        `documents` those of tests by number, for the notable ones. Counts by operator are written every
        `PROGRESS_SECONDS`, and when the index is closed."""
        tests = list(tests)
        with self._guard, self._limit.of(MOST_SECONDS_IN_ALL), self._transaction() as db:
            db.execute(
                "INSERT INTO origins VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " next_test = excluded.next_test, tally = excluded.tally",
                (OWN, state.campaign, state.seed, state.next_test, msgspec.json.encode(state.counters).decode()),
            )
            for test in tests:
                db.execute("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", (OWN, test.number, test.cpu_ms))
                db.execute("DELETE FROM outcomes WHERE origin = ? AND test = ?", (OWN, test.number))
                rows = [(OWN, test.number, self._lane(name), turn, *rest) for turn, name, *rest in in_turn(test)]
                db.executemany("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", rows)
            for kind, counted in (("finding", state.found), ("known", state.known), ("last", state.last)):
                rows_of_kind = [(kind, name, OWN, count) for name, count in counted.items()]
                db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", rows_of_kind)
            notable_tests.write(db, OWN, observations, documents)
            _write_observations(db, observations)
            counted_operators = self._note_progress(db, state) and self._count_operators(db)
            named = [(signature, slug, OWN) for signature, slug in (findings or {}).items()]
            db.executemany("INSERT INTO findings VALUES (?, ?, ?) ON CONFLICT (signature) DO NOTHING", named)
        if counted_operators:
            self._operators.clear()
        self._operators.update((op, lane, how) for test in tests for op in test.ops for lane, how, _ in test.outcomes)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._db as db:
                yield db
        except BaseException:
            self._lanes.clear()  # the rows of lanes that the transaction added are rolled back
            raise

    def _count_operators(self, db: sqlite3.Connection) -> bool:
        rows = [(OWN, op, self._lane(lane), how, count) for (op, lane, how), count in self._operators.items()]
        db.executemany(
            "INSERT INTO operators VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET outcomes = outcomes + excluded.outcomes",
            rows,
        )
        return True

    def _note_progress(self, db: sqlite3.Connection, state: State) -> bool:
        """Add a row to the curve every `PROGRESS_SECONDS`; return whether one was added."""
        seconds, counters = int(state.counters.wall_seconds), state.counters
        ((last,),) = self.rows(tuple[int | None], "SELECT max(seconds) FROM progress WHERE origin = ?", OWN)
        if last is not None and seconds - last < PROGRESS_SECONDS:
            return False
        ((findings,),) = self.rows(tuple[int], "SELECT count(signature) FROM findings")
        db.execute(
            "INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?, ?)",
            (OWN, seconds, counters.tests, counters.lane_results, self.features, findings, int(counters.cpu_seconds)),
        )
        return True

    def _lane(self, name: str) -> int:
        if name not in self._lanes:
            self._db.execute("INSERT OR IGNORE INTO lanes (name) VALUES (?)", (name,))
            self._lanes[name] = self._db.execute("SELECT id FROM lanes WHERE name = ?", (name,)).fetchone()[0]
        return self._lanes[name]

    def adopt(self, other: Index, *, tests: bool = True, sums: bool = True) -> int:
        """Copy the rows of another index, origin by origin, and update what was copied before. Return how many tests
        are new here. `tests=False` leaves out the rows of single tests, and `sums=False` the counts by operator and the
        features. Counters are always copied; they stay small."""
        new = 0
        with self._guard, other.as_it_is_now(), self._transaction() as db:
            named = other.rows(tuple[int, str], "SELECT id, name FROM lanes")
            lanes = {number: self._lane(name) for number, name in named}
            query = "SELECT id, campaign, seed, next_test, tally FROM origins WHERE campaign <> ?"
            for origin, campaign, *rest, tally in other.rows(tuple[int, str, Seed, Count, str], query, NAMELESS):
                if self._is_ahead(campaign, tally):
                    continue  # this index has a newer copy
                db.execute(
                    "INSERT INTO origins (campaign, seed, next_test, tally) VALUES (?, ?, ?, ?) ON CONFLICT (campaign)"
                    " DO UPDATE SET next_test = excluded.next_test, tally = excluded.tally WHERE id <> ?",
                    (campaign, *rest, tally, OWN),
                )
                mine = db.execute("SELECT id FROM origins WHERE campaign = ?", (campaign,)).fetchone()[0]
                if mine == OWN:
                    continue  # the other index got these rows from this campaign
                their = Part(other, origin, mine, lanes)
                adoption.take_counts(db, their)
                if tests:
                    new += adoption.take_tests(db, self, their)
                if sums:
                    adoption.take_sums(db, their)
        return new

    @contextmanager
    def as_it_is_now(self) -> Iterator[None]:
        """All reads within this context see the same state, although another process writes."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.rollback()

    def _is_ahead(self, campaign: str, counters: str) -> bool:
        """Whether this index already contains more tests of a campaign than these counters."""
        held = self.rows(tuple[str], "SELECT tally FROM origins WHERE campaign = ?", campaign)
        return bool(held) and _counters(held[0][0]).tests > _counters(counters).tests

    def done_from(self, number: int) -> list[int]:
        found = self.rows(tuple[int], "SELECT number FROM tests WHERE origin = ? AND number >= ?", OWN, number)
        return [each for (each,) in found]

    def forget_oldest(self) -> bool:
        """Delete the rows of the older half of each origin's tests, and make the file smaller; return whether any were
        deleted."""
        with self._guard:
            query = "SELECT origin, min(number), max(number) FROM tests GROUP BY origin HAVING count(number) >= ?"
            many = self.rows(tuple[int, int, int], query, FEW)
            if not many:
                return False
            with self._limit.of(MOST_SECONDS_IN_ALL), self._transaction() as db:
                for origin, oldest, newest in many:
                    middle = (oldest + newest + 1) // 2
                    db.execute("DELETE FROM outcomes WHERE origin = ? AND test < ?", (origin, middle))
                    db.execute("DELETE FROM tests WHERE origin = ? AND number < ?", (origin, middle))
            if self._db.execute("PRAGMA auto_vacuum").fetchone() == (
                0,
            ):  # the file was made by a version without auto_vacuum
                self._db.executescript("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;")
            self._db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
        return True

    # --- read by any process

    def check(self) -> None:
        """Read the whole file. Raise `Invalid` where it is damaged, or where another index cannot adopt a row."""
        with self._guard, self._limit.of(MOST_SECONDS_IN_ALL):
            (answer,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(f"damaged ({answer.splitlines()[-1]})")
        adoption.check(self)

    def observations(self) -> Observations:
        """All features, and the failure rates that the campaign itself observed."""
        features = self.rows(tuple[str, Count], "SELECT name, tests FROM features")
        rates = self.rows(
            tuple[Importer, str, str, float, float],
            "SELECT road, op, dtype, met, blamed FROM hazards WHERE origin = ?",
            OWN,
        )
        return Observations(dict(features), {}, tuple(FailureRate(*rate) for rate in rates))

    def progress(self, points: int = 1_000_000) -> list[tuple[int, ...]]:
        """The campaign's own curve: at most `points` rows of (seconds, tests, lane results, features, findings, CPU
        seconds), at equal distances in time."""
        return self.rows(
            tuple[int, ...],
            "SELECT max(seconds), max(tests), max(lane_results), max(features), max(findings), max(cpu_seconds)"
            " FROM progress WHERE origin = ?"
            " GROUP BY seconds * ? / (SELECT max(seconds) + 1 FROM progress WHERE origin = ?) ORDER BY 1",
            OWN,
            points,
            OWN,
        )

    @property
    def features(self) -> int:
        return self.rows(tuple[int], "SELECT count(name) FROM features")[0][0]

    def operators(self) -> list[tuple[str, str, str, int]]:
        """Rows of (operator, lane, how the lane ended, number of outcomes), of this campaign and all merged ones."""
        query = (
            "SELECT op, lanes.name, how, CAST(total(outcomes) AS INTEGER)"  # sum() may exceed SQLite's integers
            " FROM operators JOIN lanes ON lanes.id = lane GROUP BY 1, 2, 3"
        )
        return self.rows(tuple[str, str, str, int], query)

    @property
    def tests(self) -> int:
        return self.rows(tuple[int], "SELECT count(number) FROM tests")[0][0]

    def origins(self) -> list[tuple[str, int, Counters]]:
        """(name, seed, counters) of the campaign itself, and of all that were merged into it."""
        rows = self.rows(tuple[str, Seed, str], "SELECT campaign, seed, tally FROM origins ORDER BY id")
        with self._guard:
            return [(name, seed, _counters(counters)) for name, seed, counters in rows]

    def totals(self) -> Counters:
        """The sum of the counters of the campaign and of all that were merged into it."""
        total: dict[str, Any] = {}
        for *_, counters in self.origins():
            _add(total, msgspec.to_builtins(counters))
        with self._guard:
            return msgspec.convert(total, Counters)

    def history(self, tests: int, newest: int) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
        """By lane, how often it ended in each way: in its newest outcomes, and in those before. Only the last `tests`
        test numbers count."""
        rows = self.rows(
            tuple[str, str, int, int],
            "SELECT lanes.name, how, sum(place <= ?), sum(place > ?) FROM"
            " (SELECT lane, how, row_number() OVER (PARTITION BY lane ORDER BY test DESC) AS place FROM outcomes"
            "  WHERE origin = ? AND test > (SELECT max(number) FROM tests WHERE origin = ?) - ?)"
            " JOIN lanes ON lanes.id = lane GROUP BY 1, 2",
            newest,
            newest,
            OWN,
            OWN,
            tests,
        )
        counted: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
        for lane, how, *counts in rows:
            for counts_of_part, count in zip(counted.setdefault(lane, ({}, {})), counts, strict=True):
                if count:
                    counts_of_part[how] = count
        return counted

    def state(self) -> State | None:
        """The campaign's own state; None where nothing was written yet."""
        own = self.rows(
            tuple[int, str, Seed, Count, str],
            "SELECT id, campaign, seed, next_test, tally FROM origins WHERE id = ?",
            OWN,
        )
        if not own:
            return None
        ((_, campaign, seed, next_test, counters),) = own
        counted = self.rows(tuple[str, str, Count], "SELECT kind, name, tests FROM counts WHERE origin = ?", OWN)
        with self._guard:
            decoded = _counters(counters)
        by_kind = {kind: {name: n for k, name, n in counted if k == kind} for kind in ("finding", "known", "last")}
        found, known, last = by_kind.values()
        return State(seed, next_test, decoded, found, known, campaign, last=last)

    def each(self, row: type[T], query: str, *values: object) -> Iterator[T]:
        """The rows of a query, each checked to have the type `row`: SQLite lets every column hold every type."""
        with self._guard:
            with self._limit.of(MOST_SECONDS):
                left = most_rows(self._db)
                cursor = self._db.execute(query, values)
            while (found := self._next(cursor)) is not None:
                if left == 0:
                    raise sqlite3.DatabaseError("damaged (it has more rows than its size allows)")
                left -= 1
                yield msgspec.convert(found, row)

    def _next(self, cursor: sqlite3.Cursor) -> Any:
        with self._limit.of(MOST_SECONDS):
            return cursor.fetchone()

    def rows(self, row: type[T], query: str, *values: object) -> list[T]:
        """All rows of a query, checked as in `each`."""
        return list(self.each(row, query, *values))

    def read_all(self) -> None:
        """Read each row of each table. Raise `Invalid` where a text is no UTF-8, or a value is too large."""
        for table, kind in self.each(tuple[str, str], "SELECT name, type FROM sqlite_master"):
            if kind == "table":
                for _ in self.each(tuple, f'SELECT * FROM "{table}"'):
                    pass


def _add(total: dict[str, Any], counters: dict[str, Any]) -> None:
    for name, value in counters.items():
        if isinstance(value, dict):
            _add(total.setdefault(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value


def _write_observations(db: sqlite3.Connection, observations: Observations) -> None:
    db.executemany(
        "INSERT INTO features VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET tests = tests + excluded.tests",
        [(name, OWN, observations.first[name], tests) for name, tests in observations.features.items()],
    )
    db.executemany(
        "INSERT OR REPLACE INTO hazards VALUES (?, ?, ?, ?, ?, ?)",
        [(OWN, each.route, each.op, each.dtype, each.met, each.blamed) for each in observations.failure_rates],
    )


def _makes_sense(folder: Path) -> bool:
    """Whether all rows can be read, and the state of the campaign and of those merged into it."""
    try:
        with Index(folder, writes=False) as read:
            read.state()
            read.origins()
            read.read_all()
    except Invalid:
        return False
    return True


def _counters(text: str) -> Counters:
    return msgspec.json.decode(text, type=Counters)


def is_sound(folder: Path) -> bool:
    """Whether the whole file can be read, also where its version is newer than this one: such a file is left to that
    version where its check takes too long. Raise `OSError` where the
    machine fails (a full disk, no file descriptors): this is no damage; `Invalid` where SQLite could change another
    file."""
    path = folder / NAME
    require_own_files(path)
    try:
        with closing(sqlite3.connect(path.resolve())) as db:
            bound(db)
            version = version_of(db)
            is_newer = version > len(MIGRATIONS)
            if not is_newer and why_not_trusted(db, *MIGRATIONS[: max(version, 0)]):
                return False
            with TimeLimit(db).of(MOST_SECONDS if is_newer else MOST_SECONDS_IN_ALL):
                if db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                    return False
        return version != len(MIGRATIONS) or _makes_sense(folder)
    except sqlite3.OperationalError as error:
        if code_of(error) == sqlite3.SQLITE_INTERRUPT:  # what a newer version may check, and this one cannot
            return is_newer
        if not code_of(error):  # a text that is not UTF-8
            return False
        raise of_the_machine(error, path) or OSError(errno.EIO, str(error), str(path)) from error
    except (sqlite3.DatabaseError, MemoryError):
        return False
