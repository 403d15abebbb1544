"""Files beside a database that lead SQLite to files of the user. Nothing of these is changed, by any way in."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from journals import write_journal

from fuzzer.campaign.store import side_files
from fuzzer.campaign.store.index import NAME, Index, is_sound
from fuzzer.campaign.store.side_files import SUFFIXES, require_own_files
from fuzzer.filing.ledger import Ledger
from fuzzer.system.files import open_plain
from generators.graph import Invalid


def reads(database: Path) -> None:
    with Index(database.parent, writes=False) as index:
        index.read_all()


def writes(database: Path) -> None:
    Index(database.parent).close()


def checks(database: Path) -> None:
    is_sound(database.parent)


def files(database: Path) -> None:
    with Ledger(database) as ledger:
        ledger.entries()


def database_of(way: Callable[[Path], None], folder: Path) -> Path:
    folder.mkdir()
    path = folder / NAME
    (Ledger(path).__exit__(None, None, None) if way is files else Index(folder).close())
    return path


WAYS = pytest.mark.parametrize("way", [reads, writes, checks, files])


@WAYS
def test_a_database_with_a_second_name_is_not_opened(tmp_path: Path, way: Callable[[Path], None]) -> None:
    database, mine = database_of(way, tmp_path / "campaign"), tmp_path / "mine"
    os.link(database, mine)
    before = mine.read_bytes()
    with pytest.raises(Invalid, match=r"sqlite: the file has a second name, a hard link; replace it by a copy"):
        way(database)
    assert mine.read_bytes() == before


@WAYS
@pytest.mark.parametrize("relative", [False, True])
def test_a_journal_deletes_no_file_that_it_names(
    tmp_path: Path, way: Callable[[Path], None], relative: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    database = database_of(way, tmp_path / "campaign")
    monkeypatch.chdir(database.parent)
    write_journal(database, "../mine" if relative else str(mine))
    with pytest.raises(Invalid, match="names another file"):
        way(database)
    assert mine.read_text() == "mine"


@WAYS
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("how", [os.symlink, os.link, lambda mine, at: os.mkfifo(at)])
def test_nothing_is_written_through_a_file_beside_it(
    tmp_path: Path, way: Callable[[Path], None], suffix: str, how: Callable[[Path, Path], None]
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    database = database_of(way, tmp_path / "campaign")
    how(mine, database.with_name(f"{NAME}{suffix}"))
    with pytest.raises(Invalid, match=rf"{NAME}{suffix}"):
        way(database)
    assert mine.read_text() == "mine"


def test_a_journal_that_another_process_removes_while_it_is_looked_at_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four processes that file at once make and remove the ledger's."""
    database, journal = tmp_path / "filed.sqlite", tmp_path / "filed.sqlite-journal"
    journal.write_bytes(b"pages")

    def removed_first(path: Path, mode: str) -> object:
        path.unlink()
        return open_plain(path, mode)

    monkeypatch.setattr(side_files, "open_plain", removed_first)
    require_own_files(database)
    assert not journal.exists()


@WAYS
@pytest.mark.parametrize("pages", [None, 1, 2**32 - 1])
def test_a_rollback_journal_is_not_written_over_the_database(
    tmp_path: Path, way: Callable[[Path], None], pages: int | None
) -> None:
    database = database_of(way, tmp_path / "campaign")
    write_journal(database, "", pages)
    before = database.read_bytes()
    with pytest.raises(Invalid, match=r"-journal: SQLite would write it over the database, .* remove it"):
        way(database)
    assert database.read_bytes() == before


@pytest.mark.parametrize("way", [writes, files])
@pytest.mark.parametrize("first_page", [False, True])
def test_what_a_killed_run_leaves_is_read(tmp_path: Path, way: Callable[[Path], None], first_page: bool) -> None:
    """It was killed when it made the database: before its first page, or before the journal was removed."""
    database = tmp_path / NAME
    with closing(sqlite3.connect(database)) as db:
        if first_page:
            db.execute("PRAGMA journal_mode = WAL")
    write_journal(database, "", 0)
    way(database)
    assert is_sound(tmp_path) is (way is writes)
    assert not database.with_name(f"{NAME}-journal").exists()


def test_the_lock_of_a_ledger_makes_no_file_through_a_link(tmp_path: Path) -> None:
    database = database_of(files, tmp_path / "campaign")
    lock = database.with_name(f"{NAME}.lock")
    lock.unlink()
    lock.symlink_to(tmp_path / "made")
    with pytest.raises(Invalid, match="link"):
        files(database)
    assert not (tmp_path / "made").exists()
