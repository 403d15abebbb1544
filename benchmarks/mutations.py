"""Changes of files at random, by their form. Equal seeds give equal changes. `hostile_files.py` and `fuzz_decoders.py`
use it."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


class Form(StrEnum):
    """What a file consists of."""

    JSON = "json"
    LINES = "lines"  # a JSON document in each line
    SAFETENSORS = "safetensors"
    PAIR = "pair"  # JSON and safetensors, with the size of the first as four bytes before it
    FRAME = "frame"  # JSON and raw bytes, with the size of the first as four bytes before it
    SQLITE = "sqlite"
    ZIP = "zip"  # with a JSON document
    BYTES = "bytes"


RAW = "\x01raw:"
"""How a string begins that stands for a number or a text that `json.dumps` does not write."""

RAW_VALUES = (
    *("1e999", "-1e999", "NaN", "Infinity", "-Infinity", "-0", "0.1e-400", "1" + "0" * 400, "9" * 25, "00", "1.", "+1"),
    *('"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\x1b[2J"', "'a'", "[", "{", "", "nul", '"\\x41"', "\xff"),
    *("[" * 1200 + "]" * 1200, "[" * 200_000, '{"a":' * 1200 + "1" + "}" * 1200),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 255, 256, -(2**31), 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64),
    *(10**10, 10**10 + 1, 10**18, 10**30, -(10**30), 0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, 1e19),
    *("", " ", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "\0", "\n", "a\nb", "\x1b]52;c;eA==\x07", "-->", "<b>"),
    *("@everyone", "#1", "`", "```", "![x](http://x)", "‮abc", "é" * 9, "😀", "x" * 255, "x" * 5000, "nan", "inf"),
    *("float32[2,3]", "float32[-1]", "float32[99999999999]", "float32[" + "1," * 99 + "1]", "float32[s0]", "[]"),
    *("x0", "v0", "relu", "add", "wrong-value", "tvm", "host", "llvm", "--help", "%s%n", "{}", "{0}", "{{7*7}}"),
    *([], {}, [[]], [None], [0], ["a"], {"a": 1}, {"": 0}, [[[[[[]]]]]], [0] * 40, ["x0"] * 40, list(range(5000))),
)


def mutated(data: bytes, form: Form, source: random.Random) -> bytes:
    """Return the contents of a file with one to three changes. Most keep its form; one of four changes bytes."""
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        change = _CHANGES[form] if source.random() < 0.75 else _bytes
        data = change(data, source)
    return data


# --- bytes


def _bytes(data: bytes, source: random.Random) -> bytes:
    place = source.randrange(len(data) + 1)
    length = source.choice((1, 1, 2, 4, 8, 64, 1024))
    match source.randrange(9):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + data[place + length :]
        case 2:
            return data[:place] + source.randbytes(length) + data[place:]
        case 3:
            return data[:place] + source.randbytes(length) + data[place + length :]
        case 4:
            return data[:place] + data[place : place + length] * source.choice((2, 3, 100)) + data[place + length :]
        case 5:
            other = source.randrange(len(data) + 1)
            return data[:place] + data[other : other + length] + data[place:]
        case 6:
            return data[:place] + bytes((source.choice(b'\0\xff\x7f\x80 \n"\\{}[]:,0-9e'),)) + data[place + 1 :]
        case 7:
            word = source.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\0" * 64, b"\xff" * 8))
            return data[:place] + word + data[place:]
        case _:
            bit = bytearray(data or b"\0")
            bit[min(place, len(bit) - 1)] ^= 1 << source.randrange(8)
            return bytes(bit)


# --- JSON


def _json(data: bytes, source: random.Random) -> bytes:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes(data, source)
    return _written(_with_a_change(document, source), source)


def _with_a_change(document: Any, source: random.Random) -> Any:
    """The document after one change at a place of it."""
    holders = list(_holders(document))
    if not holders or source.random() < 0.01:
        return _value(source, document)
    holder = source.choice(holders)
    key: Any = source.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match source.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(_value(source, document))] = holder.pop(key)
        case 2 if isinstance(holder, dict):
            holder[source.choice((f"{key}2", "unknown", *map(str, VALUES[:8])))] = holder[key]
        case 2:
            holder[key:key] = [holder[key]] * source.choice((1, 2, 50))
        case 3:
            holder[key] = _copied(source.choice([document, *holders, *_leaves(holders)]))
        case 4:
            holder[key] = _near(holder[key], source)
        case 5 if isinstance(holder, list):
            source.shuffle(holder)
        case _:
            holder[key] = _value(source, document)
    return document


def _holders(document: Any) -> Iterator[Any]:
    """The lists and objects of a document that are not empty."""
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list) and each:
            yield each
            waiting += each.values() if isinstance(each, dict) else each


def _leaves(holders: list[Any]) -> list[Any]:
    return [leaf for each in holders for leaf in (each.values() if isinstance(each, dict) else each)]


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _value(source: random.Random, document: Any) -> Any:
    if source.random() < 0.2:
        return RAW + source.choice(RAW_VALUES)
    if source.random() < 0.1:
        return _copied(source.choice([document, *_leaves(list(_holders(document)))]))
    return _copied(source.choice(VALUES))


def _near(value: Any, source: random.Random) -> Any:
    """A value of the same type that is not far away."""
    match value:
        case bool():
            return not value
        case int():
            return source.choice((value + 1, value - 1, -value, value * 2, value * 10**9, str(value), [value]))
        case float():
            return source.choice((-value, value * 2, value / 3, value * 1e300, str(value)))
        case str():
            place = source.randrange(len(value) + 1)
            word = source.choice(("", "\0", "\n", "-", "é", "0", "[", ",", " ", value, value * 200))
            return value[:place] + word + value[place + source.randrange(2) :]
        case list():
            return value[: source.randrange(len(value) + 1)]
        case _:
            return [value]


def _written(document: Any, source: random.Random) -> bytes:
    """The document as JSON, now and then with a key that is there twice."""
    text = json.dumps(document, indent=source.choice((None, None, 1)), ensure_ascii=source.random() < 0.7)
    for raw in RAW_VALUES:
        text = text.replace(json.dumps(RAW + raw), raw).replace(json.dumps(RAW + raw, ensure_ascii=False), raw)
    if isinstance(document, dict) and document and source.random() < 0.05:
        text = text.replace(": ", f": 0, {json.dumps(next(iter(document)))}: ", 1)
    return text.encode(errors="surrogatepass" if source.random() < 0.5 else "replace")


def _lines(data: bytes, source: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = source.randrange(len(lines))
    lines[place] = _json(lines[place], source)
    return b"\n".join(lines)


# --- what consists of parts


def _safetensors(data: bytes, source: random.Random) -> bytes:
    size = int.from_bytes(data[:8], "little")
    header, numbers = _json(data[8 : 8 + size], source), data[8 + size :]
    stated = source.choice((len(header),) * 8 + (0, 1, len(header) + 1, 2**31, 2**63, 2**64 - 1))
    return stated.to_bytes(8, "little") + header + numbers


def _parts(after: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, random.Random], bytes]:
    def change(data: bytes, source: random.Random) -> bytes:
        size = int.from_bytes(data[:4], "little")
        first, second = data[4 : 4 + size], data[4 + size :]
        if source.random() < 0.7:
            first = _json(first, source)
        else:
            second = after(second, source)
        return len(first).to_bytes(4, "little") + first + second

    return change


def _zip(data: bytes, source: random.Random) -> bytes:
    """Changes a JSON member, or the name of a member."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        return _bytes(data, source)
    if not members:
        return _bytes(data, source)
    place = source.randrange(len(members))
    name, contents = members[place]
    if source.random() < 0.05:
        name = source.choice(("../x", "/x", "a\\b", name * 9, "", "m/models/other.json", "\n"))
    members[place] = (name, _json(contents, source) if name.endswith(".json") else _bytes(contents, source))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, contents in members:
            archive.writestr(zipfile.ZipInfo(name), contents)
    return written.getvalue()


SQL_VALUES = (
    *("NULL", "-1", "0", "1e999", "9223372036854775807", "-9223372036854775808", "0.5", "'x'", "''", "x'ff'"),
    *(
        "zeroblob(1000)",
        "'{}'",
        "'[1'",
        "'{\"tests\": 1e30}'",
        "char(27, 0, 10)",
        "'a' || char(55296)",
        "randomblob(9)",
    ),
)
SQL_SCHEMA = (
    "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON tests BEGIN DELETE FROM origins; END",
    "CREATE VIRTUAL TABLE f USING fts5(x)",
    "CREATE TABLE more (x)",
    "DROP TABLE lanes",
    "ALTER TABLE tests RENAME TO other",
    "ALTER TABLE origins ADD COLUMN x DEFAULT 1",
    "PRAGMA user_version = 99",
    "PRAGMA user_version = -1",
    "PRAGMA user_version = 2",
    "PRAGMA application_id = 7",
    "DELETE FROM origins",
    "DELETE FROM lanes",
    "UPDATE origins SET id = 7 WHERE id = 1",
    "INSERT INTO tests SELECT 1, value, 1 FROM generate_series(1, 99)",
)


def _sqlite(data: bytes, source: random.Random) -> bytes:
    """Changes a value of a row, or the schema."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        path.write_bytes(data)
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("PRAGMA journal_mode = DELETE")
                db.execute("PRAGMA ignore_check_constraints = ON")
                tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                if not tables or source.random() < 0.15:
                    db.execute(source.choice(SQL_SCHEMA))
                else:
                    table = source.choice(sorted(map(str, tables)))  # a damaged name may be bytes or a number
                    columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
                    column, value = source.choice(columns), source.choice(SQL_VALUES)
                    if source.random() < 0.2:  # a value within the document of a row
                        value = _sql_text(db, table, column, source) or value
                    db.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = {value}')
        except (sqlite3.Error, ValueError, OverflowError, IndexError, MemoryError):
            return _bytes(data, source)
        return path.read_bytes()


def _sql_text(db: sqlite3.Connection, table: str, column: str, source: random.Random) -> str:
    found = db.execute(f'SELECT "{column}" FROM "{table}" LIMIT 1').fetchone()
    if not found or not isinstance(found[0], str):
        return ""
    text = _json(found[0].encode(), source).decode(errors="replace").replace("\0", "")
    return "'" + text.replace("'", "''") + "'"


_CHANGES: dict[Form, Callable[[bytes, random.Random], bytes]] = {
    Form.JSON: _json,
    Form.LINES: _lines,
    Form.SAFETENSORS: _safetensors,
    Form.PAIR: _parts(_safetensors),
    Form.FRAME: _parts(_bytes),
    Form.SQLITE: _sqlite,
    Form.ZIP: _zip,
    Form.BYTES: _bytes,
}
