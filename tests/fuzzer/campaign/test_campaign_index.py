"""The index of a campaign: a commit is saved whole, and what is written reads back."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
import unsynced
from index_rows import store_rows

from fuzzer.campaign.store import database, index
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import FailureRate, IndexRow, Observations, index_row
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.lanes import ONNXRUNTIME, TORCH
from generators.graph import Invalid
from oracles.lane import Importer
from oracles.outcome import Broken, Built, Cause, Died, Outcome, Raised, Ran, Skipped, Stage, TimedOut, Unsupported

VERSIONS = {"torch": "2.13.0", "tvm": "0.27.0"}


@pytest.mark.parametrize(
    ("outcome", "how", "stage"),
    [
        (Ran(()), "ran", None),
        (Built(), "built", None),
        (Raised(Stage.IMPORT, "E", "no"), "raised", "import"),
        (Died(Stage.RUN, Cause.SIGNAL, 11), "died", "run"),
        (TimedOut(Stage.COMPILE, 1.0), "timed out", "compile"),
        (Unsupported(Stage.IMPORT, "no"), "unsupported", "import"),
        (Skipped("no"), "skipped", None),
        (Broken(Stage.IMPORT, "KeyError"), "broken", "import"),
    ],
)
def test_every_outcome_has_its_word(outcome: Outcome, how: str, stage: str | None) -> None:
    assert index_row(3, 0.0154, {TORCH: outcome}) == IndexRow(3, 15, (("torch", how, stage),))


def test_seconds_are_kept_in_milliseconds() -> None:
    assert index_row(3, 12.3454, {}) == IndexRow(3, 12345, ())


def test_a_commit_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SYNCHRONOUS", unsynced.SYNCHRONOUS)
    with Index(tmp_path) as written:
        assert [written._db.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "synchronous")] == [
            ("wal",),
            (2,),
        ]


def test_tests_from_a_number_on_are_the_campaigns_own(tmp_path: Path) -> None:
    rows = [index_row(number, 0.5, {TORCH: Ran(())}) for number in (0, 2, 5)]
    with Index(tmp_path / "..") as other, Index(tmp_path) as written:
        other.write(State(8, campaign="other"), [index_row(7, 0.5, {})])
        written.write(State(7, campaign="me"), rows)
        written.adopt(other)
        assert [written.done_from(number) for number in (0, 2, 3, 6)] == [[0, 2, 5], [2, 5], [5], []]


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    books = State(7, 2, found={"0a": 3}, known={"integer-power": 1}, campaign="me", last={"0a": 1_700_000_000})
    books.counters.tests = 2
    rows = [index_row(0, 0.5, {TORCH: Ran(()), ONNXRUNTIME: Skipped("no")}), index_row(1, 0.25, {TORCH: Ran(())})]
    with Index(tmp_path) as written:
        written.write(books, rows, {"0a": "died-relu-0a"})
    with Index(tmp_path, writes=False) as read:
        assert read.state() == books
        assert read.tests == 2
        assert read.history(10, 1) == {"torch": ({"ran": 1}, {"ran": 1}), "onnxruntime": ({"skipped": 1}, {})}
        assert read.history(1, 9) == {"torch": ({"ran": 1}, {})}
        assert read.rows(tuple, "SELECT * FROM findings") == [("0a", "died-relu-0a", index.OWN)]
        with pytest.raises(OSError, match="readonly"):
            read.write(books)


def test_a_test_that_is_repeated_after_a_kill_counts_once(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        for _ in range(2):
            written.write(State(7, campaign="me"), [index_row(0, 0.5, {TORCH: Ran(())})])
        assert written.tests == 1


def test_lanes_of_one_name_are_all_kept(tmp_path: Path) -> None:
    """As those that are drawn for one test have."""
    row = IndexRow(0, 5, (("drawn", "ran", None), ("torch", "ran", None), ("drawn", "raised", "import")))
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"), [row])
        assert written.history(9, 9)["drawn"] == ({"ran": 1, "raised": 1}, {})
        written.write(State(7, campaign="me"), [row])
        assert written.history(9, 9)["drawn"] == ({"ran": 1, "raised": 1}, {})
        assert written.rows(tuple, "SELECT turn, how FROM outcomes ORDER BY lane, turn") == [
            (0, "ran"),
            (1, "raised"),
            (0, "ran"),
        ]


def test_a_lane_of_a_transaction_that_failed_gets_its_number_anew(tmp_path: Path) -> None:
    row = index_row(0, 0.5, {TORCH: Ran(())})
    with Index(tmp_path) as written:
        with pytest.raises(Invalid):
            written.write(State(7, campaign="me"), [row], {"0a": None})
        written.write(State(7, campaign="me"), [index_row(1, 0.5, {ONNXRUNTIME: Ran(())}), row])
        assert written.history(9, 9) == {"torch": ({"ran": 1}, {}), "onnxruntime": ({"ran": 1}, {})}


def test_nothing_of_a_transaction_that_fails_is_there(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        written.write(State(7, 1, campaign="me"))
        with pytest.raises(Invalid):
            written.write(State(7, 2, campaign="me"), [index_row(0, 0.5, {})], {"0a": None})
        books = written.state()
        assert books is not None
        assert (books.next_test, written.tests) == (1, 0)


KILLED = """
    import sys
    from pathlib import Path
    from fuzzer.campaign.store.rows import index_row
    from fuzzer.campaign.store.store import Store
    from fuzzer.lanes import LANES
    from oracles.outcome import Ran
    with Store(Path(sys.argv[1]), 1) as store:
        for number in range(1_000_000):
            store.record(index_row(number, 0.1, {lane: Ran(()) for lane in LANES[:9]}))
            store.finished(number + 1)
            store.save_state()
            print(number + 1, flush=True)
"""


@pytest.mark.slow
def test_a_killed_campaign_goes_on_where_it_had_committed(tmp_path: Path) -> None:
    program = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        committed = [int(running.stdout.readline()) for _ in range(20)][-1]
        running.send_signal(signal.SIGKILL)
    with Store(tmp_path, None) as store:
        assert store.state.next_test >= committed
        (counted,) = store_rows(tmp_path, "SELECT count(*), max(number) + 1 FROM tests")
        assert counted == (store.state.next_test, store.state.next_test)


def test_what_was_observed_reads_back_and_features_add_up(tmp_path: Path) -> None:
    rate = FailureRate(Importer.EXPORT, "relu", "float32", 4.0, 1.5)
    with Index(tmp_path) as written:
        written.write(State(7, campaign="me"), observations=Observations({"a": 2, "b": 1}, {"a": 0, "b": 1}, (rate,)))
        written.write(State(7, campaign="me"), observations=Observations({"a": 3}, {"a": 5}, (replace(rate, met=9.0),)))
        assert written.observations() == Observations({"a": 5, "b": 1}, {}, (replace(rate, met=9.0),))
        assert written.features == 2
        assert written.rows(tuple, "SELECT name, first_test FROM features ORDER BY name") == [("a", 0), ("b", 1)]


def test_the_curve_has_a_point_now_and_then(tmp_path: Path) -> None:
    with Index(tmp_path) as written:
        for seconds in (0, 5, 29.9, 30, 61, 62):
            books = State(7, campaign="me")
            books.counters.wall_seconds, books.counters.tests = seconds, int(seconds)
            written.write(books, findings={f"{int(seconds):02}": "slug"})
        assert written.progress() == [(0, 0, 0, 0, 0, 0), (30, 30, 0, 0, 3, 0), (61, 61, 0, 0, 4, 0)]
        assert written.progress(2) == [(30, 30, 0, 0, 3, 0), (61, 61, 0, 0, 4, 0)]


def test_operators_are_counted_with_how_their_lanes_came_out(tmp_path: Path) -> None:
    """Every half minute, and when the index is closed; a test that is recorded when the disk fails counts once."""
    books, ran, refused = State(7, campaign="me"), {TORCH: Ran(())}, {TORCH: Unsupported(Stage.IMPORT, "no")}
    with Index(tmp_path) as written:
        written.write(books, [index_row(0, 0.5, ran, ("relu", "neg", "relu"))])
        assert written.operators() == []
        books.counters.wall_seconds = 31
        with pytest.raises(Invalid):
            written.write(books, [index_row(1, 0.5, ran, ("relu",))], {"0a": None})
        written.write(books, [index_row(1, 0.5, ran, ("relu",))])
        assert written.operators() == [("neg", "torch", "ran", 1), ("relu", "torch", "ran", 1)]
        written.write(books, [index_row(2, 0.5, refused, ("relu",))])
    with Index(tmp_path, writes=False) as read:
        assert read.operators() == [
            ("neg", "torch", "ran", 1),
            ("relu", "torch", "ran", 2),
            ("relu", "torch", "unsupported", 1),
        ]
