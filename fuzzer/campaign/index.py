"""The index of a campaign: one SQLite file with what was run and how it ended.

`fuzz status --repair` can rebuild the counters and the findings from the files beside it. Rows of single tests,
features and failure rates exist only here. With the write-ahead log and synchronous=FULL, a commit survives a loss of
power, and readers in other processes never wait. One process writes: the one that holds the lock of the campaign.

Each row has an origin, the campaign that it comes from. The campaign's own rows have `OWN`; each campaign that was
merged into it has a number of its own.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fuzzer.campaign import adoption
from fuzzer.campaign.adoption import Part
from fuzzer.campaign.counters import Counters
from fuzzer.campaign.rows import NO_OBSERVATIONS, FailureRate, IndexRow, Observations
from fuzzer.campaign.schema import MIGRATIONS
from fuzzer.campaign.state import State
from generators.graph import Invalid
from generators.plain_file import NO_FILE
from oracles.lane import Importer

NAME = "index.sqlite"
OWN = 1
NAMELESS = ""
"""The name of an index that only contains the rows of other campaigns."""

PROGRESS_SECONDS = 30

FEW = 100
"""The rows of this number of newest tests are never deleted: `fuzz status` computes the health of lanes from them."""


class Index:
    """An open index. Raise `Invalid` where the file is no index, is damaged, or is newer than this version."""

    def __init__(self, folder: Path, *, writes: bool = True) -> None:
        self.path = folder / NAME
        self._guard = damaged_is_invalid(self.path)
        with self._guard:
            self._db = _connected(self.path, writes)
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
    ) -> None:
        """Write the state of the campaign in one transaction. `findings` has the slugs of findings by signature. Counts
        by operator are written every `PROGRESS_SECONDS`, and when the index is closed."""
        tests = list(tests)
        with self._guard, self._transaction() as db:
            db.execute(
                "INSERT INTO origins VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " next_test = excluded.next_test, tally = excluded.tally",
                (OWN, state.campaign, state.seed, state.next_test, msgspec.json.encode(state.counters).decode()),
            )
            for test in tests:
                db.execute("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", (OWN, test.number, test.cpu_ms))
                db.execute("DELETE FROM outcomes WHERE origin = ? AND test = ?", (OWN, test.number))
                rows = [(OWN, test.number, self._lane(name), turn, *rest) for turn, name, *rest in _in_turn(test)]
                db.executemany("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", rows)
            for kind, counted in (("finding", state.found), ("known", state.known)):
                rows_of_kind = [(kind, name, OWN, count) for name, count in counted.items()]
                db.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", rows_of_kind)
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
        (last,) = db.execute("SELECT max(seconds) FROM progress WHERE origin = ?", (OWN,)).fetchone()
        if last is not None and seconds - last < PROGRESS_SECONDS:
            return False
        (features,) = db.execute("SELECT count(*) FROM features").fetchone()
        (findings,) = db.execute("SELECT count(*) FROM findings").fetchone()
        db.execute(
            "INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?, ?)",
            (OWN, seconds, counters.tests, counters.lane_results, features, findings, int(counters.cpu_seconds)),
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
            named = other.rows("SELECT id, name FROM lanes")
            lanes = {number: self._lane(str(name)) for number, name in named}
            query = "SELECT id, campaign, seed, next_test, tally FROM origins WHERE campaign <> ?"
            for origin, campaign, *columns in other.rows(query, NAMELESS):
                if self._is_ahead(str(campaign), str(columns[-1])):
                    continue  # this index has a newer copy
                db.execute(
                    "INSERT INTO origins (campaign, seed, next_test, tally) VALUES (?, ?, ?, ?) ON CONFLICT (campaign)"
                    " DO UPDATE SET next_test = excluded.next_test, tally = excluded.tally WHERE id <> ?",
                    (campaign, *columns, OWN),
                )
                mine = db.execute("SELECT id FROM origins WHERE campaign = ?", (campaign,)).fetchone()[0]
                if mine == OWN:
                    continue  # the other index got these rows from this campaign
                their = Part(other, origin, mine, lanes)
                adoption.take_counts(db, their)
                if tests:
                    new += adoption.take_tests(db, their)
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
        held = self._db.execute("SELECT tally FROM origins WHERE campaign = ?", (campaign,)).fetchone()
        return held is not None and _tests_in(held[0]) > _tests_in(counters)

    def done_from(self, number: int) -> list[int]:
        found = self.rows("SELECT number FROM tests WHERE origin = ? AND number >= ?", OWN, number)
        return [each for (each,) in found]

    def forget_oldest(self) -> bool:
        """Delete the rows of the older half of the tests, and make the file smaller; return whether any were
        deleted."""
        with self._guard:
            cursor = self._db.execute("SELECT count(*), min(number), max(number) FROM tests")
            count, oldest, newest = cursor.fetchone()
            if count < FEW:
                return False
            with self._transaction() as db:
                middle = (oldest + newest + 1) // 2
                db.execute("DELETE FROM outcomes WHERE test < ?", (middle,))
                db.execute("DELETE FROM tests WHERE number < ?", (middle,))
            if self._db.execute("PRAGMA auto_vacuum").fetchone() == (
                0,
            ):  # the file was made by a version without auto_vacuum
                self._db.executescript("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;")
            self._db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
        return True

    # --- read by any process

    def check(self) -> None:
        """Read the whole file. Raise `Invalid` where it is damaged."""
        with self._guard:
            (answer,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(f"damaged ({answer.splitlines()[-1]})")

    def observations(self) -> Observations:
        """All features, and the failure rates that the campaign itself observed."""
        features = self.rows("SELECT name, tests FROM features")
        met = self.rows("SELECT road, op, dtype, met, blamed FROM hazards WHERE origin = ?", OWN)
        return Observations(
            {str(name): tests for name, tests in features},
            {},
            tuple(
                FailureRate(Importer(str(route)), str(op), str(dtype), float(str(met)), float(str(blamed)))
                for route, op, dtype, met, blamed in met
            ),
        )

    def progress(self, points: int = 1_000_000) -> list[tuple[int, ...]]:
        """The campaign's own curve: at most `points` rows of (seconds, tests, lane results, features, findings, CPU
        seconds), at equal distances in time."""
        return self.rows(
            "SELECT max(seconds), max(tests), max(lane_results), max(features), max(findings), max(cpu_seconds)"
            " FROM progress WHERE origin = ?"
            " GROUP BY seconds * ? / (SELECT max(seconds) + 1 FROM progress WHERE origin = ?) ORDER BY 1",
            OWN,
            points,
            OWN,
        )

    @property
    def features(self) -> int:
        return int(str(self.rows("SELECT count(*) FROM features")[0][0]))

    def operators(self) -> list[tuple[str, str, str, int]]:
        """Rows of (operator, lane, how the lane ended, number of outcomes), of this campaign and all merged ones."""
        rows = self.rows(
            "SELECT op, lanes.name, how, sum(outcomes) FROM operators JOIN lanes ON lanes.id = lane GROUP BY 1, 2, 3"
        )
        return [(str(op), str(lane), str(how), count) for op, lane, how, count in rows]

    @property
    def tests(self) -> int:
        return int(str(self.rows("SELECT count(*) FROM tests")[0][0]))

    def origins(self) -> list[tuple[str, int, Counters]]:
        """(name, seed, counters) of the campaign itself, and of all that were merged into it."""
        rows = self.rows("SELECT campaign, seed, tally FROM origins ORDER BY id")
        with self._guard:
            return [(str(name), _seed(seed), _counters(counters)) for name, seed, counters in rows]

    def totals(self) -> Counters:
        """The sum of the counters of the campaign and of all that were merged into it."""
        total: dict[str, Any] = {}
        for *_, counters in self.origins():
            _add(total, msgspec.to_builtins(counters))
        return msgspec.convert(total, Counters)

    def history(self, tests: int, newest: int) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
        """By lane, how often it ended in each way: in its newest outcomes, and in those before. Only the last `tests`
        test numbers count."""
        rows = self.rows(
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
            for counts_of_part, count in zip(counted.setdefault(str(lane), ({}, {})), counts, strict=True):
                if count:
                    counts_of_part[str(how)] = count
        return counted

    def state(self) -> State | None:
        """The campaign's own state; None where nothing was written yet."""
        with self._guard:
            row = self._db.execute(
                "SELECT campaign, seed, next_test, tally FROM origins WHERE id = ?", (OWN,)
            ).fetchone()
            if row is None:
                return None
            campaign, seed, next_test, counters = row
            counted = self._db.execute("SELECT kind, name, tests FROM counts WHERE origin = ?", (OWN,)).fetchall()
            decoded, seed, next_test = _counters(counters), _seed(seed), _seed(next_test)
            msgspec.convert(counted, list[tuple[str, str, int]])
        by_kind = {kind: {name: n for k, name, n in counted if k == kind} for kind in ("finding", "known")}
        return State(seed, next_test, decoded, by_kind["finding"], by_kind["known"], campaign)

    def each(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        with self._guard:
            yield from self._db.execute(query, values)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._guard:
            return self._db.execute(query, values).fetchall()


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


def _tests_in(counters: str) -> int:
    return _counters(counters).tests


def _in_turn(test: IndexRow) -> Iterator[tuple[int, str, str, str | None]]:
    """(turn, lane, how it ended, stage) of each outcome. `turn` numbers lanes with the same name, as drawn lanes
    have."""
    turns: Counter[str] = Counter()
    for lane, how, stage in test.outcomes:
        yield turns[lane], lane, how, stage
        turns[lane] += 1


_Seed = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


def _makes_sense(folder: Path) -> bool:
    """Whether the state of the campaign, and of those merged into it, can be read."""
    try:
        with Index(folder, writes=False) as read:
            read.state()
            read.origins()
    except Invalid:
        return False
    return True


def _seed(value: object) -> int:
    """A seed, or the number of a test. Raise `msgspec.ValidationError` for anything else."""
    return msgspec.convert(value, _Seed)


def _counters(text: object) -> Counters:
    return msgspec.json.decode(msgspec.convert(text, str), type=Counters)


def is_sound(folder: Path) -> bool:
    """Whether the whole file can be read, also where its version is newer than this one. Raise `OSError` where the
    machine fails (a full disk, no file descriptors): this is no damage."""
    path = folder / NAME
    try:
        with closing(sqlite3.connect(path.resolve().as_uri(), uri=True)) as db:
            if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return False
            newest = db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        return not newest or _makes_sense(folder)
    except sqlite3.OperationalError as error:
        raise _of_the_machine(error, path) or OSError(errno.EIO, str(error), str(path)) from error
    except sqlite3.DatabaseError:
        return False


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


def _of_the_machine(error: sqlite3.OperationalError, path: Path) -> OSError | None:
    """The error of the machine that SQLite reports; None where the file is at fault."""
    code = error.sqlite_errorcode & 0xFF
    number = _why_not_opened(path) if code == sqlite3.SQLITE_CANTOPEN else _TROUBLE.get(code)
    return OSError(number, f"{error}; nothing that was written before is lost", str(path)) if number else None


def _why_not_opened(path: Path) -> int:
    """The errno for a file that SQLite cannot open. It does not say why."""
    try:
        path.open("rb").close()
    except OSError as error:
        return error.errno or errno.EIO
    return errno.EACCES  # one of the files beside it


class damaged_is_invalid:  # noqa: N801 - a context manager, used like contextlib's
    """Turns errors of SQLite into `Invalid` with the remedy where the file is damaged, and into `OSError` where the
    machine failed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.OperationalError) and (trouble := _of_the_machine(error, self._path)):
            raise trouble from error
        if isinstance(error, sqlite3.DatabaseError | msgspec.DecodeError | RecursionError):
            folder = self._path.parent
            raise Invalid(
                f"{self._path}: {error}; `fuzz status --repair --campaign {folder}` rebuilds it from the files"
            ) from error


def _connected(path: Path, writes: bool) -> sqlite3.Connection:
    if not _is_plain(path):
        raise Invalid(f"{path}: {NO_FILE}")
    source = path.resolve().as_uri() + ("" if writes else _how_to_read(path))
    db = sqlite3.connect(source, uri=True, check_same_thread=False, timeout=30)
    try:
        if writes:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only changes a file that is new
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA cache_size = -500")  # KiB: rows are appended, and the system caches the file
        _trust_nothing(db, path)
        _migrate(db, path, writes)
    except BaseException:
        db.close()
        raise
    return db


def _is_plain(path: Path) -> bool:
    """Whether SQLite may open the file: it follows links, and waits for pipes."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _trust_nothing(db: sqlite3.Connection, path: Path) -> None:
    """Let no function run that the file names. Raise `Invalid` where it has views or triggers, which may not end."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    with closing(db.execute("SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index')")) as cursor:
        if row := cursor.fetchone():
            raise Invalid(f"{path}: it has a {row[0]}, {str(row[1])[:60]!r}; an index of difftvm has tables only")


def _how_to_read(path: Path) -> str:
    """How SQLite opens the file to read it. In a folder that cannot be written it reads no journal, and makes no file
    beside it. Raise `Invalid` where there is a journal to read."""
    if os.access(path.parent, os.W_OK):
        return "?mode=ro"
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        raise Invalid(f"{path}: a killed run has left {journal.name}; copy the folder to where it can be written")
    return "?mode=ro&immutable=1"


def _migrate(db: sqlite3.Connection, path: Path, writes: bool) -> None:
    with closing(db.execute("PRAGMA user_version")) as cursor:
        version = cursor.fetchone()[0]
    if version > len(MIGRATIONS):
        raise Invalid(f"{path}: schema {version} is newer than this version of difftvm reads (up to {len(MIGRATIONS)})")
    if version < len(MIGRATIONS) and not writes:
        raise Invalid(f"{path}: schema {version} is older than this version; `fuzz status --repair` brings it up")
    for number in range(version, len(MIGRATIONS)):
        db.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
