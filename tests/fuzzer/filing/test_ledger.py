"""The books: what is written is there for the next process, and nothing is there twice."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.filing.ledger import Comment, Ledger, LedgerEntry, Pause, State, Step
from generators.graph import Invalid

PLACE = "api.github.com/apache/tvm"
ENTRY = LedgerEntry(PLACE, "0123", "nonce", "a title", "/a/finding", "0.27.0", 100.0)
COMMENT = Comment(PLACE, 7, "0.28.0", "nonce", "body", 200.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "filed.sqlite"


def test_an_entry_from_intent_to_end(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.intend(ENTRY)
        assert ledger.entry(PLACE, "0123") == ENTRY
        ledger.filed(ENTRY, 7, "https://7")
    with Ledger(path, lambda: 300.0) as ledger:
        filed = replace(ENTRY, step=Step.FILED, number=7, url="https://7")
        assert ledger.entries(PLACE) == [filed] == ledger.entries()
        ledger.record_state(filed, State.CLOSED, "completed", ("a, b", "ü"), 'W/"1"')
        ledger.fails_in(filed, "0.28.0")
        closed = replace(
            filed, state=State.CLOSED, reason="completed", labels=("a, b", "ü"), etag='W/"1"', looked=300.0
        )
        assert ledger.entry(PLACE, "0123") == replace(closed, release="0.28.0")
        assert ledger.entry("elsewhere", "0123") is None


@pytest.mark.parametrize("step", [Step.INTENDED, Step.FILED])
def test_nobody_intends_it_twice(path: Path, step: Step) -> None:
    with Ledger(path) as ledger, Ledger(path) as other:
        ledger.intend(ENTRY)
        if step is Step.FILED:
            ledger.filed(ENTRY, 7, "https://7")
        with pytest.raises(sqlite3.IntegrityError):
            other.intend(replace(ENTRY, nonce="other"))
        assert ledger.entry(PLACE, "0123").nonce == "nonce"


def test_what_was_refused_may_be_intended_again(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.intend(ENTRY)
        ledger.refused(ENTRY, "no")
        ledger.intend(replace(ENTRY, nonce="other"))
        assert ledger.entry(PLACE, "0123").step is Step.INTENDED


def test_comments(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.intend_comment(COMMENT)
        with pytest.raises(sqlite3.IntegrityError):
            ledger.intend_comment(COMMENT)
        ledger.commented(COMMENT, "https://8")
        assert ledger.comments(PLACE, 7) == [replace(COMMENT, url="https://8")]
        ledger.forget_comment(COMMENT)
        assert ledger.comments(PLACE, 7) == []


def test_pauses(path: Path) -> None:
    with Ledger(path, lambda: 5.0) as ledger:
        assert ledger.pause(PLACE) is None
        ledger.set_pause(PLACE, "too few")
        ledger.set_pause(PLACE, "")
        assert ledger.pause(PLACE) == Pause("", 5.0)


def test_one_at_a_time(path: Path) -> None:
    inside: list[str] = []

    def second() -> None:
        with Ledger(path) as other, other.exclusive():
            inside.append("second")

    with Ledger(path) as ledger:
        thread = threading.Thread(target=second)
        with ledger.exclusive():
            thread.start()
            thread.join(0.1)
            inside.append("first")
        thread.join()
    assert inside == ["first", "second"]


def test_only_its_owner_reads_it(path: Path) -> None:
    with Ledger(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_sent_was_on_the_disk_before(path: Path) -> None:
    with Ledger(path) as ledger:
        (mode,) = ledger._rows.execute("PRAGMA journal_mode").fetchone()
        (synchronous,) = ledger._rows.execute("PRAGMA synchronous").fetchone()
    assert (mode, synchronous) == ("wal", 2)


def test_another_format(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger._rows.execute("PRAGMA user_version = 9")
    with pytest.raises(Invalid, match="format 9 is not known; this version reads 1; name another with --ledger"):
        Ledger(path)


def test_what_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "filed.sqlite"
    path.write_text("not a database, and long enough to look like one " * 40)
    with pytest.raises(Invalid, match="not a database"):
        Ledger(path)
    with pytest.raises(Invalid):
        Ledger(path / "below")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE issues SET title = CAST(x'ff' AS TEXT)", "Could not decode to UTF-8"),
        ("UPDATE issues SET labels = '[\"a'", "truncated"),
        ("UPDATE issues SET labels = '7'", "Expected `array`"),
        ("UPDATE issues SET state = 'x'", "Invalid enum value 'x'"),
        ("UPDATE issues SET url = x'00'", "Expected `str`"),
        ("DROP TABLE issues", "it has no 'issues'"),
        ("CREATE VIEW v AS SELECT 1", "it has the view 'v', which difftvm does not make"),
        ("CREATE TABLE v (a CHECK (a > 0))", "it has the table 'v', which difftvm does not make"),
    ],
)
def test_a_damaged_ledger_is_refused_with_advice(path: Path, change: str, message: str) -> None:
    with Ledger(path) as ledger:
        ledger.intend(ENTRY)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(change)
    with pytest.raises(Invalid, match=f"{path}: .*{message}.*; name another with --ledger"), Ledger(path) as ledger:
        ledger.entries(step=Step.INTENDED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE issues SET url = 'javascript:alert(1)'", "Expected `str` matching regex"),
        ("UPDATE comments SET intended = 'soon'", "Expected `float`, got `str`"),
        ("UPDATE comments SET body = x'ff'", "Expected `str`, got `bytes`"),
        ("UPDATE comments SET url = 'javascript:alert(1)'", "Expected `str` matching regex"),
        ("UPDATE pauses SET since = x'ff'", "Expected `float`, got `bytes`"),
        ("UPDATE pauses SET why = x'ff'", "Expected `str`, got `bytes`"),
    ],
)
def test_each_column_of_a_row_must_have_its_form(path: Path, change: str, message: str) -> None:
    with Ledger(path) as ledger:
        ledger.intend(ENTRY)
        ledger.intend_comment(COMMENT)
        ledger.set_pause(PLACE, "too few")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(change)
    with Ledger(path) as ledger, pytest.raises(Invalid, match=f"{path}: {message}.*; name another with --ledger"):
        (ledger.entries(step=Step.INTENDED), ledger.comments(PLACE, 7), ledger.pause(PLACE))


def test_a_ledger_with_a_second_name_is_not_written(path: Path, tmp_path: Path) -> None:
    with Ledger(path):
        pass
    os.link(path, tmp_path / "mine")
    with pytest.raises(Invalid, match="the file has a second name, a hard link; replace it by a copy; name another"):
        Ledger(path)


def test_a_pipe_in_place_of_the_ledger_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(Invalid, match="it is not a regular file; name another with --ledger"):
        Ledger(path)
