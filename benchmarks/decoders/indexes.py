"""The decoder of the index of a campaign."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import msgspec
from mutations import Form

from decoders.base import Document, Target, in_file, scratch
from decoders.files import small_state
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.state import State
from fuzzer.lanes import TORCH
from fuzzer.watching.health import failing, lanes_health
from fuzzer.watching.on_disk import counters_of
from generators.graph import Invalid
from oracles.outcome import Ran


def index_bytes() -> bytes:
    """An index with some tests."""
    with tempfile.TemporaryDirectory() as folder:
        with Index(Path(folder)) as written:
            rows = [index_row(number, 0.5, {TORCH: Ran(())}, ("relu",)) for number in range(3)]
            written.write(small_state(), rows, {"0a": "died-relu-0a"})
        with closing(sqlite3.connect(Path(folder) / "index.sqlite")) as db:
            db.executescript(
                "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;"
            )  # small pages: a small file
            db.execute("INSERT INTO origins VALUES (2, 'other', 3, 4, '{\"tests\": 5}')")
            db.execute("INSERT INTO features VALUES ('f', 1, 2, 3)")
            db.execute("INSERT INTO hazards VALUES (1, 'export', 'relu', '', 1.0, 0.5)")
            db.commit()
        return (Path(folder) / "index.sqlite").read_bytes()


def _read_index(folder: Path) -> object:
    """All that commands read of an index; and its rows, copied to another."""
    questions: list[Callable[[Index], object]] = [
        lambda read: read.check(),
        lambda read: read.state(),
        lambda read: msgspec.json.encode(read.totals().summary()),
        lambda read: failing(lanes_health(read)),
        lambda read: counters_of(read),
        lambda read: [read.operators(), read.observations(), read.features, read.tests, read.done_from(0)],
        lambda read: [read.progress(40), read.progress()],
        _adopted,
    ]
    with Index(folder, writes=False) as read:
        for question in questions:
            with suppress(Invalid):
                question(read)
    return None


def _adopted(other: Index) -> int:
    path = scratch() / "adopting"
    path.mkdir(exist_ok=True)
    for each in path.iterdir():
        each.unlink()
    with Index(path) as mine:
        mine.write(State(1, campaign="mine"))
        return mine.adopt(other)


INDEX = Target(
    "index",
    {"index": Document(Form.SQLITE, in_file("index.sqlite", _read_index), seeds=lambda: iter([index_bytes()]))},
)
