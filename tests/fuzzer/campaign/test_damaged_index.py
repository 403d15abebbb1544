"""A damaged index, one with code in it, and those of other versions: what is said, and how a repair makes one anew."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from index_rows import store_rows

from fuzzer.campaign.store import database, index, state
from fuzzer.campaign.store.database import Empty, of_the_machine
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.lock import Busy
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.schema import MIGRATIONS
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store, repair
from fuzzer.campaign.store.trust import MOST_VALUE
from fuzzer.lanes import ONNXRUNTIME, TORCH
from generators.graph import Invalid
from oracles.outcome import Built, Ran

STEPS = ["b2ade5d8e27b", "c656bd47e794", "b46afcbeda99", "a6386e3efc2d", "adfecd9fad82", "5b2ed27bab2f", "49c11d4f89ba"]


def damaged(folder: Path) -> Path:
    with Store(folder, 3) as store:
        store.finished(5)
        store.state.counters.tests = 5
    path = folder / index.NAME
    path.write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    return path


def test_damage_is_reported_with_advice(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    with pytest.raises(Invalid, match=rf"{path}: .*`fuzz status --repair --campaign {tmp_path}` rebuilds it"):
        Store(tmp_path, None)


def test_repair_keeps_the_damaged_file_and_goes_on_from_the_books(tmp_path: Path) -> None:
    before = damaged(tmp_path).read_bytes()
    kept = repair(tmp_path)
    assert kept == tmp_path / "index.sqlite.damaged-1"
    assert kept.read_bytes() == before
    with Store(tmp_path, None) as store:
        assert (store.state.seed, store.state.next_test, store.state.counters.tests) == (3, 5, 5)
    damaged(tmp_path)
    assert repair(tmp_path) == tmp_path / "index.sqlite.damaged-2"


def test_repair_of_a_sound_index_keeps_its_rows_and_brings_findings_in(tmp_path: Path, saved: Path) -> None:
    with Store(tmp_path, None) as store:
        store.record(index_row(0, 0.5, {TORCH: Ran(())}))
    assert repair(tmp_path) is None
    assert store_rows(tmp_path, "SELECT slug FROM findings") == [(saved.name,)]
    assert store_rows(tmp_path, "SELECT number FROM tests") == [(0,)]


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("UPDATE lanes SET name = x'00'", lambda read, into: into.adopt(read)),
        ("UPDATE outcomes SET lane = 99", lambda read, into: into.adopt(read)),
        ("UPDATE outcomes SET how = x'00'", lambda read, into: into.adopt(read)),
        ("UPDATE tests SET cpu_ms = 'long'", lambda read, into: into.adopt(read)),
        ("UPDATE operators SET outcomes = 'many'", lambda read, into: into.adopt(read)),
        ("UPDATE operators SET op = x'00'", lambda read, into: read.operators()),
        ("UPDATE counts SET tests = 'many'", lambda read, into: read.state()),
        ("INSERT INTO hazards VALUES (1, 'nowhere', 'add', '', 1, 1)", lambda read, into: read.observations()),
        ("INSERT INTO features VALUES ('a', 1, 0, 'some')", lambda read, into: read.observations()),
        ("UPDATE progress SET tests = x'00'", lambda read, into: read.progress()),
    ],
)
def test_a_row_that_has_another_type_is_reported(
    tmp_path: Path, statement: str, reads: Callable[[Index, Index], object]
) -> None:
    with Store(tmp_path / "a", 1) as store:
        store.record(index_row(0, 0.5, {TORCH: Ran(())}, ("relu",)))
        store.finished(1)
        store.count("0a", 1)
    with closing(sqlite3.connect(tmp_path / "a" / index.NAME)) as db, db:
        db.execute(statement)
        assert db.total_changes
    with Store(tmp_path / "b", 2):
        pass
    with (
        Index(tmp_path / "a", writes=False) as read,
        Index(tmp_path / "b") as into,
        pytest.raises(Invalid, match="index"),
    ):
        reads(read, into)


def test_a_query_without_an_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MOST_SECONDS", 0.0)
    with Store(tmp_path, 1):
        pass
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with Index(tmp_path, writes=False) as read, pytest.raises(Invalid, match="a query takes too long"):
        read.rows(tuple, endless)


def test_without_an_index_one_is_made_of_the_files(tmp_path: Path, saved: Path) -> None:
    """Also what becomes of campaigns of before there was an index."""
    (tmp_path / index.NAME).unlink()
    old = msgspec.json.decode((tmp_path / state.NAME).read_bytes())
    del old["campaign"]
    (tmp_path / state.NAME).write_bytes(msgspec.json.encode(old))
    assert repair(tmp_path) is None
    with Store(tmp_path, None) as store:
        assert (store.state.seed, [doc.slug for doc in store.findings.values()]) == (1, [saved.name])
        assert len(store.state.campaign) == 32
    assert store_rows(tmp_path, "SELECT slug FROM findings") == [(saved.name,)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE origins SET tally = 'no JSON'",
        "UPDATE origins SET tally = x'ff00'",
        "UPDATE origins SET seed = 'seven'",
        "UPDATE origins SET next_test = -1",
    ],
)
def test_a_state_that_makes_no_sense_is_reported_and_repaired(tmp_path: Path, saved: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db, db:
        db.execute(statement)
    with Index(tmp_path, writes=False) as read, pytest.raises(Invalid, match="`fuzz status --repair"):
        read.state()
    assert repair(tmp_path) == tmp_path / "index.sqlite.damaged-1"
    with Store(tmp_path, None) as store:
        assert (store.state.seed, list(store.findings)) == (1, [saved.name.rpartition("-")[2]])


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (
            "CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n",
            "view",
        ),
        ("CREATE TRIGGER later AFTER INSERT ON tests BEGIN DELETE FROM findings; END", "trigger"),
    ],
)
def test_an_index_with_code_in_it_is_refused(tmp_path: Path, saved: Path, statement: str, what: str) -> None:
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db, db:
        db.execute(statement)
    for writes in (False, True):
        with pytest.raises(
            Invalid, match=f"it has the {what} '.*', which difftvm does not make; `fuzz status --repair"
        ):
            Index(tmp_path, writes=writes)
    assert not index.is_sound(tmp_path)


SLOW_CHECK = "CHECK (length(hex(zeroblob(7000000 + tests))) > 0)"


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ([f"CREATE TABLE t (tests {SLOW_CHECK})"], "it has the table 't', which difftvm does not make"),
        (
            ["DROP TABLE features", f"CREATE TABLE features (name, origin, first_test, tests {SLOW_CHECK})"],
            "its table 'features' is not as difftvm makes it",
        ),
        (
            ["CREATE INDEX i ON features (length(hex(zeroblob(7000000 + tests))))"],
            "it has the index 'i', which difftvm does not make",
        ),
        (["DROP TABLE lanes"], "it has no 'lanes'"),
    ],
)
def test_an_index_with_another_schema_is_refused_and_repaired(
    tmp_path: Path, saved: Path, statements: list[str], why: str
) -> None:
    """An expression in it is code that SQLite runs for each row."""
    path = tmp_path / index.NAME
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            db.execute(statement)
    before = path.read_bytes()
    for writes in (False, True):
        with pytest.raises(Invalid) as refused:
            Index(tmp_path, writes=writes)
        assert str(refused.value).startswith(f"{path}: {why}; `fuzz status --repair")
    assert path.read_bytes() == before
    assert repair(tmp_path) == tmp_path / "index.sqlite.damaged-1"
    with Store(tmp_path, None) as store:
        assert [doc.slug for doc in store.findings.values()] == [saved.name]


@pytest.mark.slow
def test_the_check_of_a_newer_index_has_a_limit_and_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This version cannot judge its schema."""
    monkeypatch.setattr(index, "MOST_SECONDS", 0.0)
    with Store(tmp_path, 1):
        pass
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db:
        db.execute(f"CREATE TABLE t (tests {SLOW_CHECK})")
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.executemany("INSERT INTO t VALUES (?)", ((number,) for number in range(300)))
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        db.commit()
    began = time.process_time()
    with pytest.raises(Invalid, match="newer than this version"):
        repair(tmp_path)
    assert time.process_time() - began < 10
    assert (tmp_path / index.NAME).exists()


def endless(path: Path) -> None:
    """Let the table of features have 18 levels of pages, each of which names its lower one many times."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;")
        db.executemany("INSERT INTO features VALUES (?, 1, 1, 1)", ((f"{n:090}",) for n in range(2000)))
        db.commit()
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'features'")
    data = bytearray(path.read_bytes())

    def pointers(page: int) -> list[int]:
        """Where a page of a tree has the numbers of those below it; none in a leaf."""
        begin = 512 * (page - 1)
        if data[begin] != 2:
            return []
        cells = range(int.from_bytes(data[begin + 3 : begin + 5], "big"))
        return [
            begin + 8,
            *(begin + int.from_bytes(data[begin + 12 + 2 * n : begin + 14 + 2 * n], "big") for n in cells),
        ]

    def below(page: int) -> list[int]:
        children = [int.from_bytes(data[at : at + 4], "big") for at in pointers(page)]
        return children + [each for child in children for each in below(child)]

    inner, leaves = [root], []
    for page in below(root):
        (inner if pointers(page) else leaves).append(page)
    levels = [*inner[:18], leaves[0]]
    for page, lower in itertools.pairwise(levels):
        for at in pointers(page):
            data[at : at + 4] = lower.to_bytes(4, "big")
    path.write_bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reads", "why"),
    [
        (lambda read: read.features, "a query takes too long"),
        (lambda read: read.observations(), r"damaged \(it has more rows than its size allows\)"),
        (lambda read: read.check(), r"damaged \(.*\)"),
    ],
)
def test_rows_without_an_end_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: Callable[[Index], object], why: str
) -> None:
    with Store(tmp_path, 1):
        pass
    endless(tmp_path / index.NAME)
    assert not index.is_sound(tmp_path)
    monkeypatch.setattr(index, "MOST_SECONDS", 0.5)
    with Index(tmp_path, writes=False) as read, pytest.raises(Invalid, match=why):
        reads(read)


@pytest.mark.parametrize("name", [index.NAME, "campaign.lock", state.NAME])
@pytest.mark.parametrize("made", ["link", "pipe", "folder"])
def test_something_else_in_the_place_of_a_file_is_refused_and_not_written(
    tmp_path: Path, saved: Path, name: str, made: str
) -> None:
    other = tmp_path / "mine"
    other.write_text("mine")
    path = tmp_path / name
    path.unlink()
    if name == state.NAME:
        (tmp_path / index.NAME).unlink()
    if made == "link":
        path.symlink_to(other)
    else:
        os.mkfifo(path) if made == "pipe" else path.mkdir()
    with pytest.raises((Invalid, OSError), match=name):
        Store(tmp_path, None)
    assert other.read_text() == "mine"


def test_nobody_repairs_what_runs_or_what_is_no_campaign(tmp_path: Path) -> None:
    with Store(tmp_path / "c", 1) as store:
        store.save_state()
        with pytest.raises(Busy, match=str(os.getpid())):
            repair(tmp_path / "c")
    with pytest.raises(Invalid, match="no campaign"):
        repair(tmp_path)


def test_what_the_machine_lacks_is_no_damage(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, 1, campaign="me"))
        written._db.execute("PRAGMA max_page_count = 1")
        rows = [index_row(number, 0.5, {TORCH: Ran(())}) for number in range(9000)]
        with pytest.raises(OSError, match="nothing that was written before is lost") as caught:
            written.write(State(7, 9000, campaign="me"), rows)
        assert caught.value.errno == errno.ENOSPC
        assert (written.tests, (written.state() or State(0)).next_test) == (0, 1)


def test_nothing_is_read_from_an_index_without_a_commit(tmp_path: Path) -> None:
    path = tmp_path / index.NAME
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(Empty, match=r"nothing was committed to it yet; `.* run --campaign .*` continues"):
        Index(tmp_path, writes=False)
    path.with_name(f"{index.NAME}-journal").write_bytes(b"pages as they were")
    with pytest.raises(Empty):
        Index(tmp_path, writes=False)


def test_a_file_that_could_not_be_made_may_be_made_later(tmp_path: Path) -> None:
    error = sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    trouble = of_the_machine(error, tmp_path / index.NAME)
    assert trouble is not None
    assert trouble.errno == errno.EIO


def test_the_schema_is_brought_up_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE origins (id);"))
    with pytest.raises(Invalid, match="already exists"):
        Index(tmp_path)
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_a_step_of_the_schema_that_was_committed_stays_as_it_is() -> None:
    """Indexes have been through it. A new step has its line added here."""
    assert [hashlib.sha256(step.encode()).hexdigest()[:12] for step in MIGRATIONS] == STEPS


def test_repair_never_replaces_what_it_kept_before(tmp_path: Path) -> None:
    damaged(tmp_path)
    (tmp_path / f"{index.NAME}.damaged-2").write_text("an older one")
    assert repair(tmp_path) == tmp_path / f"{index.NAME}.damaged-1"
    damaged(tmp_path)
    assert repair(tmp_path) == tmp_path / f"{index.NAME}.damaged-3"
    assert (tmp_path / f"{index.NAME}.damaged-2").read_text() == "an older one"


def test_the_rows_of_a_test_that_took_other_lanes_before_are_replaced(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"), [index_row(0, 0.5, {TORCH: Ran(()), ONNXRUNTIME: Ran(())})])
        written.write(State(7, campaign="me"), [index_row(0, 0.5, {TORCH: Built()})])
        assert written.history(9, 9) == {"torch": ({"built": 1}, {})}


def test_an_index_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
    with sqlite3.connect(tmp_path / index.NAME) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(Invalid, match="newer than this version"):
        Store(tmp_path, None)


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_an_index_of_any_older_version_is_brought_up(tmp_path: Path, version: int) -> None:
    db = sqlite3.connect(tmp_path / index.NAME)
    for script in MIGRATIONS[:version]:
        db.executescript(script)
    db.execute(f"PRAGMA user_version = {version}")
    held = [("torch", "ran", None)] if version else []
    if held:
        turn = "0, " if version > 5 else ""
        outcome = f"INSERT INTO outcomes VALUES (1, 3, 7, {turn}'ran', NULL);"
        db.executescript(f"INSERT INTO lanes VALUES (7, 'torch'); {outcome}")
    db.close()
    with pytest.raises(Invalid, match="older than this version" if version else "nothing was committed"):
        Index(tmp_path, writes=False)
    with Store(tmp_path, 1) as store:
        store.save_state()
    with Index(tmp_path, writes=False) as read:
        assert read.rows(tuple, "PRAGMA user_version") == [(len(MIGRATIONS),)]
        assert read.rows(tuple, "SELECT name, how, stage FROM outcomes JOIN lanes ON lanes.id = lane") == held


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE lanes SET name = CAST(x'ff' AS TEXT)",
        "INSERT INTO counts VALUES ('known', CAST(x'fe' AS TEXT), 1, 1)",
        f"UPDATE outcomes SET how = hex(zeroblob({MOST_VALUE}))",
    ],
)
def test_a_text_that_no_campaign_writes_is_damage(tmp_path: Path, change: str) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me", found={"0a": 1}), [index_row(0, 0.5, {TORCH: Ran(())})])
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db, db:
        db.execute(change)
    with Index(tmp_path, writes=False) as read, pytest.raises(Invalid, match="status --repair"):
        read.rows(tuple, "SELECT * FROM lanes, counts, outcomes")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "is_whole"),
    [
        ("UPDATE lanes SET name = 'another'", True),
        ("UPDATE lanes SET name = CAST(x'ff' AS TEXT)", False),
        ("UPDATE outcomes SET how = CAST(x'c0af' AS TEXT)", False),
        ("UPDATE counts SET name = CAST(x'ff' AS TEXT)", False),
        ("UPDATE origins SET campaign = CAST(x'ff' AS TEXT)", False),
        ("INSERT INTO features VALUES (CAST(x'eda080' AS TEXT), 1, 1, 1)", False),
        (f"UPDATE outcomes SET how = hex(zeroblob({MOST_VALUE}))", False),
    ],
)
def test_an_index_is_repaired_where_a_text_of_any_table_cannot_be_read(
    tmp_path: Path, change: str, is_whole: bool
) -> None:
    """Readers advise to repair it. SQLite's own check does not look at the bytes of a text."""
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me", found={"0a": 1}), [index_row(0, 0.5, {TORCH: Ran(())})])
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db, db:
        db.execute(change)
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert index.is_sound(tmp_path) == is_whole
    kept = repair(tmp_path)
    assert (kept is None) == is_whole
    with Index(tmp_path, writes=False) as read:
        read.read_all()


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"))
    path = tmp_path / index.NAME
    path.write_bytes(path.read_bytes().replace(b"tableorigins", b"tab\xffeorigins"))
    with pytest.raises(Invalid, match="status --repair"):
        Index(tmp_path, writes=False)


NO_MEMORY = Path(__file__).parents[2] / "decoder_corpus" / "index" / "68126b62ff4779da"
"""An index whose changed bytes SQLite answers with SQLITE_NOMEM."""


def test_a_file_for_which_sqlite_has_no_memory_is_damage(tmp_path: Path) -> None:
    (tmp_path / index.NAME).write_bytes(NO_MEMORY.read_bytes()[1:])
    with pytest.raises(Invalid, match="SQLite has no memory for what it says; `fuzz status --repair"):
        Index(tmp_path, writes=False)
    kept = repair(tmp_path)
    assert kept is not None
    assert kept.name == "index.sqlite.damaged-1"


@pytest.mark.parametrize(
    ("change", "use"),
    [
        ("UPDATE progress SET seconds = 'x'", lambda mine, _: mine.write(State(7, campaign="mine"))),
        ("UPDATE origins SET tally = 7, campaign = 'theirs'", lambda mine, theirs: mine.adopt(theirs)),
    ],
)
def test_an_index_with_other_types_is_damage_also_where_it_is_written(
    tmp_path: Path, change: str, use: Callable[[Index, Index], object]
) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        with Index(tmp_path / name) as written:
            written.write(State(7, campaign=name))
    with closing(sqlite3.connect(tmp_path / "mine" / index.NAME)) as db, db:
        db.execute(change)

    with (
        Index(tmp_path / "mine") as mine,
        Index(tmp_path / "theirs", writes=False) as theirs,
        pytest.raises(Invalid, match="status --repair"),
    ):
        use(mine, theirs)


@pytest.mark.parametrize(
    "tally",
    ['{"cpu_seconds": 1.7e308}', '{"tests": 9223372036854775807}', '{"tests": -1}', '{"stage_cpu": {"run": 1e300}}'],
)
def test_counters_that_no_campaign_reaches_are_damage(tmp_path: Path, tally: str) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"))
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db, db:
        db.execute("UPDATE origins SET tally = ?", (tally,))
    with Index(tmp_path, writes=False) as read, pytest.raises(Invalid, match="status --repair"):
        read.totals()


@pytest.mark.parametrize("field", ["seed", "next_test"])
def test_a_number_that_sqlite_does_not_hold_is_refused(tmp_path: Path, field: str) -> None:
    document = {**msgspec.to_builtins(State(7, campaign="me")), field: 1 << 63}
    (tmp_path / state.NAME).write_bytes(msgspec.json.encode(document))
    with pytest.raises(Invalid, match="move it away"):
        Store(tmp_path, None)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE origins SET next_test = {}",
        "INSERT INTO counts VALUES ('finding', 'x', 1, {})",
    ],
)
def test_a_run_can_count_on_from_each_number_that_is_read(tmp_path: Path, change: str) -> None:
    with Store(tmp_path, 7) as store:
        store.save_state()
    with closing(sqlite3.connect(tmp_path / index.NAME)) as db:
        db.execute(change.format((1 << 63) - 1))
        db.commit()
    with pytest.raises(Invalid, match="status --repair"):
        Store(tmp_path, None)


def test_the_largest_number_that_sqlite_holds_reads_back(tmp_path: Path) -> None:
    largest = State((1 << 63) - 1, next_test=1 << 53, campaign="me")
    state.write(tmp_path, largest)
    with Index(tmp_path) as written:
        written.write(largest)
    with Index(tmp_path, writes=False) as read:
        assert read.state() == largest == state.read(tmp_path)


def test_whether_an_index_is_sound_is_found_out_without_a_change(tmp_path: Path) -> None:
    """A file with a rollback journal, which no campaign makes, keeps it."""
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"))
    path = tmp_path / index.NAME
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    before = path.read_bytes()
    assert index.is_sound(tmp_path)
    assert path.read_bytes() == before
