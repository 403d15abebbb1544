"""Rows: tensors, the index of a campaign, and the ledger of filed issues."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from hostile.place import Place
from hostile.row import ESCAPES, Make, Row, with_contents


def _header(document: object, numbers: int = 64, size: int | None = None) -> Make:
    """A header of some size, which may not be its own, and zeros after it."""

    def contents(data: bytes) -> bytes:
        text = document() if callable(document) else json.dumps(document).encode()
        stated = len(text) if size is None else size
        return stated.to_bytes(8, "little") + text + bytes(numbers)

    return with_contents("tensors.safetensors", contents)


def _f32(begin: int, end: int, shape: object = (4,)) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}


def tensors() -> Iterator[Row]:
    made: dict[str, Make] = {
        "a header of 2^63 bytes": _header({}, size=2**63),
        "a header of 2^64 - 1 bytes": _header({}, size=2**64 - 1),
        "a header longer than the file": _header({}, size=10_000),
        "overlapping tensors": _header({"x0": _f32(0, 16), "x1": _f32(8, 24)}),
        "offsets of 2^63": _header({"x0": _f32(0, 2**63)}),
        "offsets of 2^64": _header({"x0": _f32(0, 2**64)}),
        "offsets backwards": _header({"x0": _f32(16, 0)}),
        "a hole between tensors": _header({"x0": _f32(0, 16), "x1": _f32(32, 48)}),
        "a shape of 2^80": _header({"x0": _f32(0, 16, [2**40, 2**40])}),
        "a negative shape": _header({"x0": _f32(0, 16, [-4])}),
        "a shape without elements of 2^63": _header({"x0": _f32(0, 0, [0, 2**63 - 1])}, 0),
        "rank 100": _header({"x0": _f32(0, 4, [1] * 100)}, 4),
        "an unknown dtype": _header({"x0": {"dtype": "O", "shape": [1], "data_offsets": [0, 8]}}, 8),
        "a dtype that numpy lacks": _header({"x0": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}}, 8),
        "other names": _header({ESCAPES: _f32(0, 64, [16])}),
        "metadata with escapes": _header({"__metadata__": {ESCAPES: ESCAPES}, "x0": _f32(0, 64, [16])}),
        "100,000 tensors": _header({f"x{n}": _f32(0, 0, [0]) for n in range(100_000)}, 0),
        "a header of 90 MB of spaces": _header(lambda: b"{" + b" " * (90 << 20) + b"}"),
        "200 MB of zeros": _header(
            {"x0": {"dtype": "U8", "shape": [200 << 20], "data_offsets": [0, 200 << 20]}}, 200 << 20
        ),
        "nested metadata": _header(lambda: b'{"__metadata__": ' + b"[" * 100_000),
    }
    for name, make in made.items():
        yield Row(f"tensors.safetensors: {name}", make, frozenset({"tensors.safetensors"}))


def _sql(*statements: str) -> Make:
    def make(place: Place) -> None:
        with closing(sqlite3.connect(place.campaign / "index.sqlite", isolation_level=None)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                db.execute(statement)

    return make


def _corrupted(place: Place) -> None:
    path = place.campaign / "index.sqlite"
    data = bytearray(path.read_bytes())
    for offset in range(1024, len(data), 37):
        data[offset] ^= 0x5A
    path.write_bytes(data)


def _beside(suffix: str, contents: bytes) -> Make:
    return lambda place: (place.campaign / f"index.sqlite{suffix}").write_bytes(contents)


def _names_another(database: str) -> Make:
    """A journal of a transaction over several databases. SQLite deletes the file that it names."""

    def make(place: Place) -> None:
        path = place.campaign / database
        with closing(sqlite3.connect(path)) as db:
            (pages,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        magic, name = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", str((place.outside / "secret").resolve()).encode()
        begin = magic + b"".join(number.to_bytes(4, "big") for number in (0, 1, pages, 512, size))
        numbers = [number.to_bytes(4, "big") for number in (0x40000000 // size + 1, len(name), sum(name))]
        end = numbers[0] + name + numbers[1] + numbers[2] + magic
        path.with_name(f"{database}-journal").write_bytes(begin.ljust(512, b"\0") + end)

    return make


def _link_beside(suffix: str) -> Make:
    return lambda place: (place.campaign / f"index.sqlite{suffix}").symlink_to(place.outside / "secret")


def _many_rows(place: Place) -> None:
    with closing(sqlite3.connect(place.campaign / "index.sqlite")) as db:
        db.executemany("INSERT INTO features VALUES (?, 1, 1, 1)", ((f"f{n}",) for n in range(300_000)))
        db.executemany("INSERT INTO lanes VALUES (?, ?)", ((n, f"l{n}") for n in range(100, 50_000)))
        db.commit()


def _slow_check(place: Place) -> None:
    """Rows for each of which the file asks for 14 MB."""
    with closing(sqlite3.connect(place.campaign / "index.sqlite")) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("CREATE TABLE extra (a CHECK (length(hex(zeroblob(7000000 + a))) > 0))")
        db.executemany("INSERT INTO extra VALUES (?)", ((number,) for number in range(8000)))
        db.commit()


_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"


def indices() -> Iterator[Row]:
    made: dict[str, Make] = {
        "a view that does not end": _sql(
            "DROP TABLE features", f"CREATE VIEW features AS {_ENDLESS} x AS name, x AS tests FROM c"
        ),
        "a trigger": _sql("CREATE TRIGGER t AFTER INSERT ON tests BEGIN DELETE FROM origins; END"),
        "a virtual table": _sql("CREATE VIRTUAL TABLE f USING fts5(x)"),
        "a virtual table in the place of one": _sql(
            "DROP TABLE features", "CREATE VIRTUAL TABLE features USING fts5(name, origin, first_test, tests)"
        ),
        "a computed column": _sql(
            "DROP TABLE features",
            "CREATE TABLE features (name TEXT PRIMARY KEY, tests INTEGER AS (length(zeroblob(999999999))))",
            "INSERT INTO features (name) VALUES ('a')",
        ),
        "a check that is slow, of a table of its own": _slow_check,
        "a check that is slow, of a table of ours": _sql(
            "DROP TABLE hazards",
            "CREATE TABLE hazards (origin, road, op, dtype, met, blamed CHECK (length(hex(zeroblob(7000000))) > 0))",
            *(f"INSERT INTO hazards VALUES (1, 'export', 'op{number}', '', 1.0, 0.5)" for number in range(2000)),
        ),
        "an index on an expression": _sql("CREATE INDEX i ON features (length(hex(zeroblob(100000))))"),
        "tables without their columns": _sql("DROP TABLE origins", "CREATE TABLE origins (id)"),
        "no tables": _sql("DROP TABLE origins", "DROP TABLE lanes", "DROP TABLE tests", "DROP TABLE counts"),
        "a newer version": _sql("PRAGMA user_version = 99"),
        "a negative version": _sql("PRAGMA user_version = -5"),
        "version 0": _sql("PRAGMA user_version = 0"),
        "a seed that is text": _sql("UPDATE origins SET seed = 'x' WHERE id = 1"),
        "a name that is no UTF-8": _sql("UPDATE origins SET campaign = CAST(x'ff' AS TEXT) WHERE id = 2"),
        "a lane that is no UTF-8": _sql("UPDATE lanes SET name = CAST(x'ff' AS TEXT)"),
        "a name of an own column that is no UTF-8": _sql("UPDATE counts SET name = CAST(x'fffe' AS TEXT)"),
        "a lane with escapes": _sql(f"UPDATE lanes SET name = '{ESCAPES}'"),
        "a merged campaign with escapes": _sql(f"UPDATE origins SET campaign = '{ESCAPES}' WHERE id = 2"),
        "counters nested 100,000 deep": _sql(f"UPDATE origins SET tally = '{'[' * 100_000}'"),
        "counters of 10^300": _sql(f"UPDATE origins SET tally = '{json.dumps({'tests': 10**300})}'"),
        "counters that add up to infinity": _sql(
            'UPDATE origins SET tally = \'{"cpu_seconds": 1.7e308, "wall_seconds": 1.7e308}\''
        ),
        "a count of 2^63 - 1": _sql("UPDATE counts SET tests = 9223372036854775807"),
        "counts that overflow": _sql(
            "UPDATE counts SET tests = 9223372036854775807",
            "INSERT INTO counts VALUES ('finding', '0a', 2, 9223372036854775807)",
        ),
        "a curve without time": _sql("UPDATE progress SET seconds = 0, tests = 5"),
        "a curve of 2^63 seconds": _sql("UPDATE progress SET seconds = 9223372036854775807"),
        "a curve of words": _sql("UPDATE progress SET tests = 'x'"),
        "a test number below 0": _sql("UPDATE tests SET number = -9223372036854775808 WHERE number = 1"),
        "outcomes of a lane that there is not": _sql("UPDATE outcomes SET lane = 99"),
        "an outcome of a megabyte": _sql("UPDATE outcomes SET how = hex(zeroblob(1000000))"),
        "rows of 300,000 features": _many_rows,
        "changed bytes": _corrupted,
        "text": lambda place: (place.campaign / "index.sqlite").write_text("SELECT 1"),
        "only its first bytes": lambda place: (place.campaign / "index.sqlite").write_bytes(b"SQLite format 3\0"),
        "a write-ahead log of nonsense": _beside("-wal", b"\x37\x7f\x06\x82" + bytes(range(256)) * 64),
        "a journal of nonsense": _beside("-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(range(256)) * 64),
        "a shared memory of nonsense": _beside("-shm", bytes(range(256)) * 200),
        "a write-ahead log that is a link": _link_beside("-wal"),
        "a journal that names another file": _names_another("index.sqlite"),
        "a shared memory that is a link": _link_beside("-shm"),
        "a journal that is a link": _link_beside("-journal"),
        "a write-ahead log that is a pipe": lambda place: os.mkfifo(place.campaign / "index.sqlite-wal"),
        "a write-ahead log that is a directory": lambda place: (place.campaign / "index.sqlite-wal").mkdir(),
    }
    for name, make in made.items():
        yield Row(f"index.sqlite: {name}", make, frozenset({"index.sqlite"}))
    ledger: dict[str, tuple[str, ...]] = {
        "a step that is none": ("PRAGMA ignore_check_constraints = ON", "UPDATE issues SET step = 'x'"),
        "labels that are none": ("UPDATE issues SET labels = '[1'",),
        "labels that are a number": ("UPDATE issues SET labels = '7'",),
        "an address with escapes": (f"UPDATE issues SET url = '{ESCAPES}', title = '{ESCAPES}'",),
        "a number that is none": ("UPDATE issues SET number = 'x'",),
        "a state that is none": ("UPDATE issues SET state = 'x'",),
        "no UTF-8": ("UPDATE issues SET title = CAST(x'ff' AS TEXT)",),
        "other tables": ("DROP TABLE issues", "CREATE TABLE issues (x)"),
        "a trigger": ("CREATE TRIGGER t AFTER INSERT ON pauses BEGIN DELETE FROM issues; END",),
        "a view": ("DROP TABLE pauses", f"CREATE VIEW pauses AS {_ENDLESS} x AS place, x AS why, x AS since FROM c"),
    }
    yield Row(
        "filed.sqlite: a journal that names another file", _names_another("filed.sqlite"), frozenset({"filed.sqlite"})
    )
    for name, statements in ledger.items():
        yield Row(f"filed.sqlite: {name}", _ledger_sql(statements), frozenset({"filed.sqlite"}))


def _ledger_sql(statements: tuple[str, ...]) -> Make:
    def make(place: Place) -> None:
        with closing(sqlite3.connect(place.campaign / "filed.sqlite", isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    return make
