"""Hostile files made by hand. Each row changes one thing of the campaign of `hostile_base.py`. `hostile_files.py` runs
them."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import socket
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile_base import CORPUS_CASE, FINDING, KINDS, ONNX_FINDING, VERBS, Place, Verb

from fuzzer.findings import finding_file
from generators import case_file
from generators.graph import Invalid

Make = Callable[[Place], object]

ESCAPES = "\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m‮--> </script>@everyone #1 ```\r\n<img src=x onerror=alert(1)>"
"""What terminals, pages and trackers react to."""

INJECTED = "x0 = __import__('os').system('touch /tmp/executed-by-difftvm')"


@dataclass(frozen=True, slots=True)
class Row:
    """A hostile folder.

    kinds  every command that reads one of these is run
    verbs  further commands, which read what no kind describes
    """

    name: str
    make: Make
    kinds: frozenset[str] = frozenset()
    verbs: dict[str, Verb] = field(default_factory=dict)

    @property
    def commands(self) -> dict[str, Verb]:
        return {name: verb for name, verb in VERBS.items() if verb.reads & self.kinds} | self.verbs


def rows() -> list[Row]:
    found = [
        *_something_else_in_its_place(),
        *_contents(),
        *_fields(),
        *_tensors(),
        *_indices(),
        *_folders(),
        *_models(),
    ]
    names = [row.name for row in found]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return found


def resign(place: Place) -> None:
    """Write the digest of a changed case into its finding, as somebody would who wants it to be read."""
    for folder in (place.finding, place.onnx_finding, *(place.campaign / "waiting").glob("*")):
        try:
            document = json.loads((folder / finding_file.NAME).read_bytes())
            document["case_sha256"] = case_file.digest(case_file.read(folder))
            (folder / finding_file.NAME).write_text(json.dumps(document))
        except (Invalid, OSError, ValueError, KeyError, TypeError, RecursionError):
            continue


# --- something else in the place of a file


def _replaced(kind: str, by: Callable[[Path, Place], object]) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        path.unlink()
        by(path, place)

    return make


def _socket(path: Path, place: Place) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(path: Path, place: Place) -> None:
    with path.open("wb") as file:
        file.truncate(20 << 30)


def _device(path: Path, place: Place) -> None:
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero


_THINGS: dict[str, Callable[[Path, Place], object]] = {
    "a link to a file outside": lambda path, place: path.symlink_to(place.outside / "secret"),
    "a link to itself": lambda path, place: path.symlink_to(path.name),
    "a link to /dev/zero": lambda path, place: path.symlink_to("/dev/zero"),
    "a directory": lambda path, place: path.mkdir(),
    "a pipe": lambda path, place: os.mkfifo(path),
    "a socket": _socket,
    "20 GB without contents": _sparse,
    "an empty file": lambda path, place: path.touch(),
}


def _something_else_in_its_place() -> Iterator[Row]:
    for kind in KINDS:
        for name, thing in _THINGS.items():
            yield Row(f"{kind}: {name}", _replaced(kind, thing), frozenset({kind}))
    if os.getuid() == 0:
        for kind in ("finding.json", "case.json", "index.sqlite"):
            yield Row(f"{kind}: a device", _replaced(kind, _device), frozenset({kind}))
    else:
        for kind in ("finding.json", "index.sqlite"):  # root may read everything
            yield Row(
                f"{kind}: without permission",
                lambda place, kind=kind: KINDS[kind].path(place).chmod(0),
                frozenset({kind}),
            )


# --- contents that are no document


def _with(kind: str, contents: Callable[[bytes], bytes]) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        path.write_bytes(contents(path.read_bytes()))

    return make


_CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "the first half": lambda data: data[: len(data) // 2],
    "a byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "invalid UTF-8": lambda data: data.replace(b'"', b'"\xff\xed\xa0\x80', 1),
    "nested 200,000 deep": lambda data: b"[" * 200_000,
    "90 MB of empty lists": lambda data: b"[" + b"[]," * 30_000_000 + b"[]]",
    "60 MB of spaces": lambda data: b" " * (60 << 20),
    "a number with 100,000 digits": lambda data: b"1" * 100_000,
    "twice after each other": lambda data: data * 2,
}


def _contents() -> Iterator[Row]:
    for kind in ("finding.json", "case.json", "natural.json", "onnx.json", "campaign.json", "merged.json"):
        for name, contents in _CONTENTS.items():
            yield Row(f"{kind}: {name}", _with(kind, contents), frozenset({kind}))
    for kind in ("filing.json", "waiting/finding.json", "corpus/case.json", "corpus/expect.json", "toolchain.json"):
        for name in ("invalid UTF-8", "nested 200,000 deep", "90 MB of empty lists"):
            yield Row(f"{kind}: {name}", _with(kind, _CONTENTS[name]), frozenset({kind}))
    escapes = ESCAPES.encode()
    yield Row("ir-before.txt: escapes", _with("ir-before.txt", lambda data: escapes), frozenset({"ir-before.txt"}))
    yield Row(
        "ir-before.txt: 200 MB",
        _with("ir-before.txt", lambda data: b"x = 1\n" * 33_000_000),
        frozenset({"ir-before.txt"}),
    )
    yield Row(
        "attempts.txt: 200 MB",
        _with("waiting/attempts.txt", lambda data: b"2026-01-02 03:04:05 begun\n" * 8_000_000),
        frozenset({"waiting/attempts.txt"}),
    )
    yield Row(
        "attempts.txt: escapes",
        _with("waiting/attempts.txt", lambda data: b"2026-01-02 03:04:05 begun\n" * 20 + escapes),
        frozenset({"waiting/attempts.txt"}),
    )
    yield Row("campaign.lock: escapes", _with("campaign.lock", lambda data: escapes), frozenset({"campaign.lock"}))
    yield Row(
        "campaign.lock: 9 MB", _with("campaign.lock", lambda data: b"9" * 9_000_000), frozenset({"campaign.lock"})
    )


# --- wrong values in documents

_LONG = "x" * 300
Field = tuple[str, str, tuple[str | int, ...], Any]
"""Name, kind, place in the document, value."""

_FIELDS: tuple[Field, ...] = (
    ("its name leads upwards", "finding.json", ("slug",), "../../outside"),
    ("its name is absolute", "finding.json", ("slug",), "/tmp/x"),
    ("its name has 300 characters", "finding.json", ("slug",), _LONG),
    ("its name has a line break", "finding.json", ("slug",), "a\nb"),
    ("its name is an option", "finding.json", ("slug",), "--help"),
    ("its signature has escapes", "finding.json", ("signature",), ESCAPES),
    ("an unknown kind", "finding.json", ("kind",), "wrong-" + "x" * 100_000),
    ("a kind that is a number", "finding.json", ("kind",), 7),
    ("a million operators", "finding.json", ("ops",), ["relu"] * 1_000_000),
    ("operators with escapes", "finding.json", ("ops",), [ESCAPES]),
    ("a lane with a null byte", "finding.json", ("lanes",), ["a\0b"]),
    ("a lane of a million characters", "finding.json", ("lane", "name"), "x" * 1_000_000),
    ("a toolchain that leads upwards", "finding.json", ("lane", "toolchain"), "../../outside"),
    ("a target with code", "finding.json", ("lane", "target"), INJECTED),
    ("an option with code", "finding.json", ("lane", "options"), {INJECTED: INJECTED}),
    ("a level of 10^30", "finding.json", ("lane", "opt_level"), 10**30),
    ("passes with code", "finding.json", ("lane", "passes"), [INJECTED]),
    ("confirmed with escapes", "finding.json", ("confirmed",), ESCAPES),
    ("flaky is a word", "finding.json", ("flaky",), "yes"),
    ("found in the year 10^300", "finding.json", ("found",), 1e300),
    ("found before all time", "finding.json", ("found",), -1e18),
    ("found is a huge integer", "finding.json", ("found",), 10**300),
    ("CPU seconds of 10^308", "finding.json", ("cpu_seconds",), 1e308),
    ("no evidence", "finding.json", ("evidence",), {}),
    ("two kinds of evidence", "finding.json", ("evidence", "timed_out"), {"stage": "run", "seconds": 1.0}),
    ("evidence with escapes", "finding.json", ("evidence", "mismatch", "expected"), ESCAPES),
    ("an index of 10^30", "finding.json", ("evidence", "mismatch", "worst", "index"), [10**30]),
    ("a million indices", "finding.json", ("evidence", "mismatch", "worst", "index"), [1] * 1_000_000),
    ("an output that there is not", "finding.json", ("evidence", "mismatch", "output"), 10**9),
    ("a negative output", "finding.json", ("evidence", "mismatch", "output"), -5),
    ("versions with escapes", "finding.json", ("versions",), {"tvm": ESCAPES, ESCAPES: "1", "preload": ESCAPES}),
    ("100,000 versions", "finding.json", ("versions",), {f"p{n}": "1" for n in range(100_000)}),
    ("blame with escapes", "finding.json", ("blame", "culprit"), ESCAPES),
    ("its script ended with no signal", "finding.json", ("script",), {"exit_code": -999, "why": ESCAPES}),
    ("its script ended with 10^30", "finding.json", ("script",), {"exit_code": 10**30}),
    ("calls of 10^30", "finding.json", ("reduction_calls",), 10**30),
    ("a digest that is none", "finding.json", ("case_sha256",), ESCAPES),
    ("format 10^30", "finding.json", ("format",), 10**30),
    ("an unknown field of 100,000 characters", "finding.json", ("y" * 100_000,), 1),
    ("a scope with escapes", "finding.json", ("scope", "siblings"), [[ESCAPES, ESCAPES]]),
    ("a negative dimension", "case.json", ("inputs", 0, "type"), "float32[-1]"),
    ("a dimension of 10^10", "case.json", ("inputs", 0, "type"), "float32[10000000000]"),
    ("a dimension of 2^64", "case.json", ("inputs", 0, "type"), f"float32[{2**64}]"),
    ("a dimension of 5,000 digits", "case.json", ("inputs", 0, "type"), f"float32[{'9' * 5000}]"),
    ("rank 100,000", "case.json", ("inputs", 0, "type"), f"float32[{','.join('1' * 100_000)}]"),
    ("an unknown dtype", "case.json", ("inputs", 0, "type"), "object[2]"),
    ("a name that is code", "case.json", ("inputs", 0, "name"), INJECTED),
    ("a name with a line break", "case.json", ("inputs", 0, "name"), "x0\nimport os"),
    ("a million outputs", "case.json", ("outputs",), ["v0"] * 1_000_000),
    ("no outputs", "case.json", ("outputs",), []),
    ("5,000 outputs that exist", "case.json", ("outputs",), ["x0"] * 5000),
    ("an operator that is none", "case.json", ("nodes", 0, "op"), "__class__"),
    ("an operator of 100,000 characters", "case.json", ("nodes", 0, "op"), "o" * 100_000),
    ("a call that reads its own result", "case.json", ("nodes", 0, "args"), ["v0"]),
    ("a million operands", "case.json", ("nodes", 0, "args"), ["x0"] * 1_000_000),
    ("an attribute that is code", "case.json", ("nodes", 0, "attrs"), {"alpha": INJECTED}),
    ("an attribute that is nested", "case.json", ("nodes", 0, "attrs"), {"alpha": [[[[1]]]]}),
    ("an attribute of 10^400", "case.json", ("nodes", 0, "attrs"), {"alpha": 10**400}),
    ("an attribute that is named as code", "case.json", ("nodes", 0, "attrs"), {INJECTED: 1}),
    ("results of another type", "case.json", ("nodes", 0, "results"), {"v0": "int8[1]"}),
    ("5,000 calls", "case.json", ("nodes",), [{"op": "relu", "args": ["x0"], "attrs": {}, "results": {}}] * 5000),
    ("sizes that are negative", "case.json", ("sizes",), {"s0": -(10**9)}),
    ("a symbol from high to low", "case.json", ("symbols",), {"s0": {"low": 9, "high": 1}}),
    ("a symbol of 10^30", "case.json", ("symbols",), {"s0": {"low": 1, "high": 10**30}}),
    ("an origin of 10 MB", "case.json", ("origin",), "o" * 10_000_000),
    ("an origin with escapes", "case.json", ("origin",), ESCAPES),
    ("a dialect that is code", "case.json", ("dialect",), INJECTED),
    ("a domain that is none", "case.json", ("inputs", 0, "domain"), "within[9e999,-1]"),
    ("a natural case that is none", "natural.json", ("case",), {"format": 2}),
    ("a natural case without evidence", "natural.json", ("evidence",), {}),
    ("TVMScript with escapes", "natural.json", ("blame", "before"), ESCAPES),
    ("a script that ended with no signal", "natural.json", ("script",), {"exit_code": -100_000}),
    ("lanes with escapes", "natural.json", ("lanes",), [ESCAPES]),
    ("a million lanes", "natural.json", ("lanes",), ["a"] * 1_000_000),
    (
        "a constant of 2^62 elements",
        "onnx.json",
        ("initializers",),
        {"c": {"element": "FLOAT", "shape": [2**31, 2**31], "data": ""}},
    ),
    (
        "a constant of negative size",
        "onnx.json",
        ("initializers", "c"),
        {"element": "FLOAT", "shape": [-1, -1], "data": "AAAAAA=="},
    ),
    ("data that is no base64", "onnx.json", ("initializers", "c"), {"element": "FLOAT", "shape": [1], "data": "%%"}),
    ("rank 10,000", "onnx.json", ("initializers", "c"), {"element": "INT8", "shape": [1] * 10_000, "data": "AA=="}),
    ("an opset of 10^30", "onnx.json", ("opsets", ""), 10**30),
    ("an operator that is code", "onnx.json", ("nodes", 0, "op"), INJECTED),
    ("names with escapes", "onnx.json", ("nodes", 0, "name"), ESCAPES),
    ("a duplicate of itself", "merged.json", ("merged",), [{"slug": FINDING, "into": FINDING, "why": ""}]),
    (
        "duplicates in a circle",
        "merged.json",
        ("merged",),
        [{"slug": FINDING, "into": ONNX_FINDING, "why": ""}, {"slug": ONNX_FINDING, "into": FINDING, "why": ""}],
    ),
    ("a reason with escapes", "merged.json", ("merged", 0, "why"), ESCAPES),
    ("a name that leads upwards", "merged.json", ("merged", 0, "into"), "../x"),
    (
        "100,000 duplicates",
        "merged.json",
        ("merged",),
        [{"slug": f"a{n}", "into": "b", "why": ""} for n in range(10**5)],
    ),
    ("a negative seed", "campaign.json", ("seed",), -1),
    ("a seed of 10^30", "campaign.json", ("seed",), 10**30),
    ("a next test of 10^30", "campaign.json", ("next_test",), 10**30),
    ("counters of 10^300", "campaign.json", ("tally", "tests"), 10**300),
    ("counters that are words", "campaign.json", ("tally", "cpu_seconds"), "much"),
    ("a campaign named with escapes", "campaign.json", ("campaign",), ESCAPES),
    ("trouble with escapes", "filing.json", ("trouble",), ESCAPES),
    ("10^300 that wait", "filing.json", ("waiting",), 10**300),
    ("its name leads upwards", "waiting/finding.json", ("slug",), "../../outside"),
    ("a lane that is unknown", "waiting/finding.json", ("lane", "name"), "no-such-lane"),
    ("an expectation of another format", "corpus/expect.json", ("format",), "1"),
    ("a lane with an unknown field", "corpus/expect.json", ("expected", 0, "lane", ESCAPES), 1),
    ("a stage that is none", "corpus/expect.json", ("expected", 0, "gives"), ESCAPES),
    ("an interpreter that is a script", "toolchain.json", ("python",), "/tmp/evil.sh"),
    ("a name that leads upwards", "toolchain.json", ("name",), "../x"),
    ("no version of TVM", "toolchain.json", ("versions",), {}),
    ("versions with escapes", "toolchain.json", ("versions",), {"tvm": ESCAPES}),
    ("a size of 10^300", "toolchain.json", ("size",), 10**300),
    ("a sample that leads upwards", "sweep/asked.json", ("ops",), "../" + ESCAPES),
    ("10^30 samples", "sweep/asked.json", ("samples",), 10**30),
)


def _fields() -> Iterator[Row]:
    for name, kind, where, value in _FIELDS:
        yield Row(f"{kind}: {name}", _with_field(kind, where, value), frozenset({kind}))
    yield Row("finding.json: NaN", _with("finding.json", _raw(b'"cpu_seconds": NaN')), frozenset({"finding.json"}))
    yield Row("finding.json: 1e999", _with("finding.json", _raw(b'"found": 1e999')), frozenset({"finding.json"}))
    yield Row("finding.json: a field twice", _with("finding.json", _raw(b'"slug": "a"')), frozenset({"finding.json"}))
    yield Row(
        "finding.json: half a character", _with("finding.json", _raw(rb'"slug": "\ud800"')), frozenset({"finding.json"})
    )
    yield Row(
        "sweep: a sample that leads upwards",
        _with("sweep/samples.jsonl", lambda data: b'{"key": "../../../outside/x", "why": ""}\n'),
        frozenset({"sweep/samples.jsonl"}),
    )
    yield Row(
        "sweep: a line of another type",
        _with("sweep/samples.jsonl", lambda data: b"7\n"),
        frozenset({"sweep/samples.jsonl"}),
    )


def _raw(text: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.rstrip()[:-1] + b", " + text + b"}"


def _with_field(kind: str, where: tuple[str | int, ...], value: Any) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        document = json.loads(path.read_bytes())
        holder = document
        for key in where[:-1]:
            if isinstance(holder, dict) and holder.get(key) is None:  # a field at its default is not written
                holder[key] = {}
            holder = holder[key]
        holder[where[-1]] = value
        path.write_text(json.dumps(document))
        if "case.json" in kind:
            resign(place)

    return make


# --- tensors


def _header(document: object, numbers: int = 64, size: int | None = None) -> Make:
    """A header of some size, which may not be its own, and zeros after it."""

    def contents(data: bytes) -> bytes:
        text = document() if callable(document) else json.dumps(document).encode()
        stated = len(text) if size is None else size
        return stated.to_bytes(8, "little") + text + bytes(numbers)

    return _with("tensors.safetensors", contents)


def _f32(begin: int, end: int, shape: object = (4,)) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}


def _tensors() -> Iterator[Row]:
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


# --- the index


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


def _link_beside(suffix: str) -> Make:
    return lambda place: (place.campaign / f"index.sqlite{suffix}").symlink_to(place.outside / "secret")


def _many_rows(place: Place) -> None:
    with closing(sqlite3.connect(place.campaign / "index.sqlite")) as db:
        db.executemany("INSERT INTO features VALUES (?, 1, 1, 1)", ((f"f{n}",) for n in range(300_000)))
        db.executemany("INSERT INTO lanes VALUES (?, ?)", ((n, f"l{n}") for n in range(100, 50_000)))
        db.commit()


_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"


def _indices() -> Iterator[Row]:
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
    for name, statements in ledger.items():
        yield Row(f"filed.sqlite: {name}", _ledger_sql(statements), frozenset({"filed.sqlite"}))


def _ledger_sql(statements: tuple[str, ...]) -> Make:
    def make(place: Place) -> None:
        with closing(sqlite3.connect(place.campaign / "filed.sqlite", isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    return make


# --- folders

_OWN_PLACES = {
    "file into its drafts": Verb(lambda place: ["file", place.finding, "--ledger", place.out / "ledger"], frozenset()),
    "minimize beside it": Verb(lambda place: ["minimize", place.finding], frozenset()),
    "dashboard into it": Verb(lambda place: ["dashboard", "--campaign", place.campaign], frozenset()),
}
"""Commands that write into the campaign where the user names no other place."""

_EVERY = frozenset({"finding.json", "case.json", "index.sqlite", "waiting/case.json", "corpus/case.json"})


def _linked(name: str) -> Make:
    """A folder or file of the campaign is a link to a folder outside, which has the same contents."""

    def make(place: Place) -> None:
        path = place.campaign / name
        if path.is_dir():
            shutil.move(path, place.outside / "moved")
        else:
            path.unlink(missing_ok=True)
            (place.outside / "moved").mkdir()
            (place.outside / "moved" / "mine").write_text("kept")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(place.outside / "moved")

    return make


def _file_linked(name: str) -> Make:
    def make(place: Place) -> None:
        (place.campaign / name).unlink(missing_ok=True)
        (place.campaign / name).parent.mkdir(parents=True, exist_ok=True)
        (place.campaign / name).symlink_to(place.outside / "secret")

    return make


def _instead(name: str, thing: str) -> Make:
    def make(place: Place) -> None:
        path = place.campaign / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        _THINGS[thing](path, place)

    return make


def _copied_as(name: str) -> Make:
    return lambda place: shutil.copytree(place.finding, place.finding.with_name(name))


def _many_folders(place: Place) -> None:
    for number in range(3000):
        folder = place.campaign / "crashes" / f"f{number}"
        folder.mkdir()
        (folder / "finding.json").write_text("{}")


def _many_copies(place: Place) -> None:
    for number in range(300):
        folder = place.campaign / "crashes" / f"copy-{number}"
        shutil.copytree(place.finding, folder)
        document = json.loads((folder / "finding.json").read_bytes())
        document["slug"], document["signature"] = folder.name, f"{number:012x}"
        (folder / "finding.json").write_text(json.dumps(document))


def _folders() -> Iterator[Row]:
    linked = ("crashes", "waiting", "parked", "elsewhere", "errors", ".difftvm-scratch", "minimized", "drafts")
    for name in linked:
        yield Row(f"{name} is a link", _linked(name), _EVERY, _OWN_PLACES)
    into = {"import --into": VERBS["import --into"]}  # `fuzz corpus` gets the folder itself, which may be a link
    yield Row("corpus is a link", _linked("corpus"), _EVERY - {"corpus/case.json"}, _OWN_PLACES | into)
    yield Row("the folder of a finding is a link", _linked(f"crashes/{FINDING}"), _EVERY, _OWN_PLACES)
    yield Row("the folder of a case is a link", _linked(f"corpus/{CORPUS_CASE}"), _EVERY)
    yield Row("a leftover folder is a link", _linked("crashes/.tmp-abc"), _EVERY)
    yield Row("a leftover folder of waiting is a link", _linked("waiting/.tmp-abc"), _EVERY)
    yield Row("a folder of another node is a link", _linked("elsewhere/x"), _EVERY)
    files = (
        *("waiting/.met", "drafts/a.md", "dashboard.html", "stats.json", "stats.jsonl", "errors/test-1/error.txt"),
        *(f"crashes/{FINDING}/extra.txt", f"crashes/{FINDING}/repro.py", f"crashes/{FINDING}/log.txt"),
        *("elsewhere/x/finding.json", ".corpus", "corpus/.run", f"drafts/{FINDING}.md", "campaign.json.tmp"),
    )
    for name in files:
        yield Row(f"{name} is a link", _file_linked(name), _EVERY, _OWN_PLACES)
    for name in ("crashes", "waiting", "corpus", "elsewhere", "errors", ".difftvm-scratch", "drafts", "minimized"):
        yield Row(f"{name} is a pipe", _instead(name, "a pipe"), _EVERY, _OWN_PLACES)
    yield Row("crashes is empty", _instead("crashes", "an empty file"), _EVERY)
    yield Row("waiting/.met is a pipe", _instead("waiting/.met", "a pipe"), _EVERY)
    yield Row("waiting/.met is large", _instead("waiting/.met", "20 GB without contents"), _EVERY)
    yield Row("log.txt is a pipe", _instead(f"crashes/{FINDING}/log.txt", "a pipe"), _EVERY)
    yield Row("repro.py is large", _instead(f"crashes/{FINDING}/repro.py", "20 GB without contents"), _EVERY)
    yield Row("a folder's name has 255 bytes", _copied_as("n" * 255), _EVERY)
    yield Row("a folder's name has a line break", _copied_as("a\nfuzz: b"), _EVERY)
    yield Row("a folder's name has escapes", _copied_as("a\x1b[2J\x1b]52;c;eA==\x07"), _EVERY)
    yield Row(
        "a folder's name is no UTF-8",
        lambda place: shutil.copytree(place.finding, place.finding.with_name(os.fsdecode(b"a\xff\xfe"))),
        _EVERY,
    )
    yield Row("a folder's name is an option", _copied_as("--help"), _EVERY)
    yield Row("one finding in two folders", _copied_as("again"), _EVERY)
    yield Row("3,000 folders without a finding", _many_folders, _EVERY)
    yield Row("300 findings", _many_copies, _EVERY)
    yield Row(
        "a campaign within a finding",
        lambda place: shutil.copytree(place.campaign / "corpus", place.finding / "crashes"),
        _EVERY,
    )


# --- models


def _onnx(change: Callable[[Any], object]) -> Make:
    def make(place: Place) -> None:
        import onnx

        path = place.campaign / "models" / "m.onnx"
        model = onnx.load(path, load_external_data=False)
        change(model)
        path.write_bytes(model.SerializeToString())

    return make


def _external(location: str) -> Make:
    def change(model: Any) -> None:
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = 1
        for key, value in (("location", location), ("offset", "0"), ("length", "48")):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value

    return _onnx(change)


def _nested(model: Any) -> None:
    """An `If` within an `If`, 90 deep: protobuf refuses 100."""
    from onnx import helper

    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    for _ in range(28):
        graph = helper.make_graph(
            [helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=helper.make_graph([], "e", [], []))],
            "g",
            [],
            [],
        )
    model.graph.node.append(graph.node[0])


def _too_deep(place: Place) -> None:
    """Graphs in attributes of nodes, 20,000 deep, as protobuf's bytes."""
    data = b""
    for _ in range(20_000):
        attribute = _tagged(6, data)  # g
        data = _tagged(1, _tagged(5, attribute))  # node, attribute
    (place.campaign / "models" / "m.onnx").write_bytes(b"\x08\x09" + _tagged(7, data))


def _tagged(field_number: int, data: bytes) -> bytes:
    size, length = b"", len(data)
    while length > 127:
        size += bytes((length & 127 | 128,))
        length >>= 7
    return bytes((field_number << 3 | 2,)) + size + bytes((length,)) + data


def _recursive(model: Any) -> None:
    function = model.functions[0]
    del function.node[:]
    node = function.node.add()
    node.op_type, node.domain = "f", "own"
    node.input.append("i")
    node.output.append("o")


def _doubling(model: Any) -> None:
    """Thirty functions that each call the next one twice: a billion nodes after they are inlined."""
    from onnx import helper

    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    for number in range(30):
        calls = [helper.make_node(f"f{number + 1}", [i], [o], domain="own") for i, o in (("i", "t"), ("t", "o"))]
        model.functions.append(helper.make_function("own", f"f{number}", ["i"], ["o"], calls, opsets))
    last = [helper.make_node("Neg", ["i"], ["o"])]
    model.functions.append(helper.make_function("own", "f30", ["i"], ["o"], last, opsets))
    model.graph.node[-1].op_type = "f0"


def _claims(*dims: int) -> Callable[[Any], object]:
    def change(model: Any) -> None:
        model.graph.initializer[0].dims[:] = dims

    return change


def _pt2(*members: tuple[str, bytes | Callable[[], bytes]], compressed: bool = False) -> Make:
    def make(place: Place) -> None:
        with zipfile.ZipFile(place.campaign / "models" / "m.pt2", "w") as archive:
            for name, contents in members:
                kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
                data = contents() if callable(contents) else contents
                archive.writestr(zipfile.ZipInfo(name), data, compress_type=kind)

    return make


def _bomb(megabytes: int) -> bytes:
    return b'{"graph_module": {"graph": {"inputs": [' + b"{}," * (megabytes * 350_000) + b"{}]}}}"


class _Evil:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch /tmp/executed-by-difftvm",)


def _model(place: Place) -> bytes:
    with zipfile.ZipFile(place.campaign / "models" / "m.pt2") as archive:
        (name,) = (name for name in archive.namelist() if name.split("/")[-2:-1] == ["models"])
        return archive.read(name)


def _with_pickles(place: Place) -> None:
    evil = pickle.dumps(_Evil())
    names = ("archive/data/weights/weight_0", "archive/data.pkl", "data.pkl", "archive/data/sample_inputs/model.pt")
    _pt2(("archive/models/model.json", _model(place)), *((name, evil) for name in names))(place)


def _old_with_pickles(place: Place) -> None:
    evil = pickle.dumps(_Evil())
    names = ("serialized_state_dict.pt", "serialized_constants.pt", "serialized_example_inputs.pt")
    _pt2(("serialized_exported_program.json", _model(place)), *((name, evil) for name in names))(place)


def _zip_in_zip(place: Place) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(50 << 20))
    _pt2(("m/models/model.json", inner.getvalue()))(place)


def _overlapping(place: Place) -> None:
    """A thousand members that share their compressed bytes."""
    path = place.campaign / "models" / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", _bomb(60))
        first = archive.infolist()[0]
        for number in range(1000):
            other = zipfile.ZipInfo(f"m/models/{number}.json")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(other, name, getattr(first, name))
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other


def _many_members(place: Place) -> None:
    with zipfile.ZipFile(place.campaign / "models" / "m.pt2", "w") as archive:
        for number in range(70_000):
            archive.writestr(f"a{number}", b"")


def _target(place: Place) -> None:
    document = json.loads(_model(place))
    for node in document["graph_module"]["graph"]["nodes"]:
        node["target"] = INJECTED
    _pt2(("m/models/model.json", json.dumps(document).encode()))(place)


def _models() -> Iterator[Row]:
    onnx: dict[str, Make] = {
        "weights in /etc/passwd": _external("/etc/passwd"),
        "weights in a folder above": _external("../../../outside/secret"),
        "weights behind a null byte": _external("a\0/../../x"),
        "weights in /proc/self/environ": _external("/proc/self/environ"),
        "graphs in graphs, 28 deep": _onnx(_nested),
        "graphs in graphs, 20,000 deep": _too_deep,
        "a function that calls itself": _onnx(_recursive),
        "functions that call each other twice": _onnx(_doubling),
        "a tensor that claims 2 GB": _onnx(_claims(1 << 29)),
        "a tensor that claims 2^60": _onnx(_claims(1 << 30, 1 << 30)),
        "a tensor of negative size": _onnx(_claims(-1, -12)),
        "an input of 2^62": _onnx(
            lambda model: setattr(model.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 2**62)
        ),
        "names with escapes": _onnx(lambda model: setattr(model.graph.node[0], "op_type", ESCAPES)),
        "an operator that is code": _onnx(lambda model: setattr(model.graph.node[0], "op_type", INJECTED)),
        "no graph": _onnx(lambda model: model.ClearField("graph")),
        "a version of 2^31": _onnx(lambda model: setattr(model, "ir_version", 2**31)),
        "an opset of 2^40": _onnx(lambda model: setattr(model.opset_import[0], "version", 2**40)),
        "a number with 20 bytes": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(
            b"\x08" + b"\xff" * 20
        ),
        "60 MB of zeros": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(bytes(60 << 20)),
        "a pickle": lambda place: (place.campaign / "models" / "m.onnx").write_bytes(pickle.dumps(_Evil())),
    }
    for name, make in onnx.items():
        yield Row(f"m.onnx: {name}", make, frozenset({"m.onnx"}))
    pt2: dict[str, Make] = {
        "pickles in it": _with_pickles,
        "the older form with pickles": _old_with_pickles,
        "a bomb of 250 MB": _pt2(("m/models/model.json", lambda: _bomb(250)), compressed=True),
        "a bomb that is larger than allowed": _pt2(("m/models/model.json", lambda: bytes(300 << 20)), compressed=True),
        "a zip file in it": _zip_in_zip,
        "a thousand members of the same bytes": _overlapping,
        "70,000 members": _many_members,
        "a member that leads upwards": _pt2(("../../outside/x", b""), ("m/models/model.json", b"{}")),
        "an absolute member": _pt2(("/etc/passwd", b""), ("m/models/model.json", b"{}")),
        "a member with a backslash": _pt2(("a\\..\\x", b""), ("m/models/model.json", b"{}")),
        "a member with escapes": _pt2(
            (f"m/models/{ESCAPES}.json", b"{"),
        ),
        "a document that is deep": _pt2(("m/models/model.json", b'{"graph_module": ' + b"[" * 500_000)),
        "a document that is no UTF-8": _pt2(("m/models/model.json", b'{"\xff": 1}')),
        "code in the place of operators": _target,
        "a pickle": lambda place: (place.campaign / "models" / "m.pt2").write_bytes(pickle.dumps(_Evil())),
        "a list of members at 2^63": lambda place: (place.campaign / "models" / "m.pt2").write_bytes(
            b"PK\x06\x06"
            + (44).to_bytes(8, "little")
            + b"\xff" * 44
            + b"PK\x06\x07"
            + bytes(4)
            + bytes(8)
            + b"\1\0\0\0"
            + b"PK\x05\x06"
            + b"\xff" * 16
            + b"\0\0"
        ),
    }
    for name, make in pt2.items():
        yield Row(f"m.pt2: {name}", make, frozenset({"m.pt2"}))
