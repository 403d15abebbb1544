"""Journals of SQLite, made by hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
SECTOR = 512


def write_journal(database: Path, super_journal: str, pages: int | None = None) -> None:
    """A rollback journal without pages, of a transaction over several databases where it names one. The database had so
    many pages, or as many as it has."""
    with closing(sqlite3.connect(database)) as db:
        (now,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    before = now if pages is None else pages
    numbers = b"".join(number.to_bytes(4, "big") for number in (0, 1, before, SECTOR, size))
    name = super_journal.encode()
    end = (0x40000000 // size + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    end += sum(name).to_bytes(4, "big") + MAGIC if name else b""
    database.with_name(f"{database.name}-journal").write_bytes((MAGIC + numbers).ljust(SECTOR, b"\0") + end)
