"""`fuzz run --auto-file`: what a campaign finds is filed while it runs, and nothing of that can end the campaign."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from desk import REPO, Bare, Shows
from github_server import TOKEN, GitHubServer
from labs import FakeLab

from fuzzer.campaign.store import filing_progress
from fuzzer.filing.auto import AutoFiler
from fuzzer.filing.draft import Draft
from fuzzer.filing.gates import STOP
from fuzzer.filing.ledger import Ledger, LedgerEntry
from fuzzer.filing.office import TrackerOptions
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import Tracker, Unreachable
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.reports import SHOWS, ScriptRun
from fuzzer.system.state_folder import state_folder
from fuzzer.toolchains import registry
from generators.graph import Case, Invalid
from oracles.lane import LaneSpec
from oracles.outcome import Result

pytestmark = pytest.mark.slow


class AllShow(FakeLab):
    """A lab in which each finding shows, by the operators of its case."""

    def __init__(self, drafts: list[Draft]) -> None:
        super().__init__(lambda case, lane, lanes: None)
        self.by_ops = {draft.case.graph.ops: Shows(draft) for draft in drafts}

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self.by_ops[case.graph.ops].run_fresh(case, lanes)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(SHOWS)


class Auto:
    """A campaign's filer, and its messages."""

    def __init__(self, server: GitHubServer, drafts: list[Draft], tmp_path: Path) -> None:
        self.new: list[FindingDoc] = []
        self.messages: list[str] = []
        options = TrackerOptions(REPO, server.url, tmp_path / "filed.sqlite")
        crashes = drafts[0].folder.parent
        self.filer = AutoFiler(options, Secret(TOKEN), crashes, self.new, AllShow(drafts), self.messages.append, Bare())


@pytest.fixture
def auto(server: GitHubServer, findings: list[Draft], tmp_path: Path) -> Auto:
    return Auto(server, findings, tmp_path)


def test_what_is_found_is_filed_while_the_campaign_runs(
    auto: Auto, server: GitHubServer, findings: list[Draft]
) -> None:
    with auto.filer:
        auto.new.append(findings[0].doc)
        until(lambda: bool(server.issues(REPO)))
    assert auto.messages == [f"{findings[0].doc.slug}: filed: {server.url}/{REPO}/issues/1"]


class CountedTrackers(TrackerOptions):
    """Options of which each use counts: each tracker has the time of a command."""

    made = 0

    def tracker(self, token: Secret | None) -> Tracker:
        CountedTrackers.made += 1
        return super().tracker(token)


def test_what_is_left_at_the_end_has_the_time_of_one_command(
    server: GitHubServer, findings: list[Draft], tmp_path: Path
) -> None:
    """Otherwise a tracker that does not answer would hold the end of a campaign for hours."""
    options, crashes = CountedTrackers(REPO, server.url, tmp_path / "filed.sqlite"), findings[0].folder.parent
    new: list[FindingDoc] = []
    with AutoFiler(options, Secret(TOKEN), crashes, new, AllShow(findings), print, Bare()):
        before = CountedTrackers.made
        new.append(findings[0].doc)
        until(lambda: len(server.issues(REPO)) == 1)
        assert CountedTrackers.made == before + 1
        new += [draft.doc for draft in findings[1:3]]
    assert len(server.issues(REPO)) == 3
    assert CountedTrackers.made == before + 2


def test_the_rules_are_the_same(auto: Auto, server: GitHubServer, findings: list[Draft]) -> None:
    flaky = msgspec.structs.replace(findings[5].doc, flaky=True)
    with auto.filer:
        auto.new += [flaky, *(draft.doc for draft in findings[:5])]
    assert len(server.issues(REPO)) == 3
    assert len(auto.messages) == 5
    assert all("3 of 3 today (UTC)" in message for message in auto.messages[3:])


def test_the_kill_switch_stops_it_at_once(auto: Auto, server: GitHubServer, findings: list[Draft]) -> None:
    state_folder().mkdir(parents=True, exist_ok=True)
    (state_folder() / STOP).touch()
    with auto.filer:
        auto.new.append(findings[0].doc)
    assert server.sent == []
    assert f"{STOP} is there" in auto.messages[0]


def test_a_campaign_that_is_stopped_files_no_more(auto: Auto, server: GitHubServer, findings: list[Draft]) -> None:
    with auto.filer:
        auto.filer.drop()
        auto.new.append(findings[0].doc)
    assert server.sent == []


def test_an_error_is_reported_and_the_next_finding_is_tried(
    auto: Auto, server: GitHubServer, findings: list[Draft]
) -> None:
    shutil.rmtree(findings[0].folder)
    with auto.filer:
        auto.new += [draft.doc for draft in findings[:2]]
    assert "not filed: " in auto.messages[0]
    assert auto.messages[1].startswith(f"{findings[1].doc.slug}: filed: ")


def test_a_ledger_that_is_broken_for_a_while_is_reported_and_the_next_is_tried(
    auto: Auto, server: GitHubServer, findings: list[Draft], tmp_path: Path
) -> None:
    ledger = tmp_path / "filed.sqlite"
    with auto.filer:
        whole = ledger.read_bytes()
        for beside in tmp_path.glob("filed.sqlite-*"):
            beside.unlink()
        ledger.write_bytes(b"no database" * 1000)
        auto.new.append(findings[0].doc)
        until(lambda: len(auto.messages) == 1)
        ledger.write_bytes(whole)
        until(lambda: "1 finding could not be filed yet: Invalid: " in waits(findings))
        auto.new.append(findings[1].doc)
        until(lambda: len(auto.messages) == 2)
    why = f"{ledger}: file is not a database; name another with --ledger"
    assert auto.messages == [
        f"{findings[0].doc.slug}: not filed: {why}; it is tried again every 60 s",
        f"{findings[1].doc.slug}: filed: {server.url}/{REPO}/issues/1",
        f"{findings[0].doc.slug}: filed: {server.url}/{REPO}/issues/2",
    ]
    assert waits(findings) == ""
    assert filing_progress.read(findings[0].folder.parents[1]).filed == 2


def test_an_error_of_the_database_while_a_finding_is_filed_ends_that_one_only(
    auto: Auto, findings: list[Draft], monkeypatch: pytest.MonkeyPatch
) -> None:
    intend, errors = Ledger.intend, iter([sqlite3.OperationalError("database is locked")])

    def locked_once(ledger: Ledger, entry: LedgerEntry) -> None:
        for error in errors:
            raise error
        intend(ledger, entry)

    monkeypatch.setattr(Ledger, "intend", locked_once)
    with auto.filer:
        auto.new += [draft.doc for draft in findings[:2]]
    again = "not filed: database is locked; it is tried again every 60 s"
    assert auto.messages[0] == f"{findings[0].doc.slug}: {again}"
    assert auto.messages[1].startswith(f"{findings[1].doc.slug}: filed: ")
    assert auto.messages[2].startswith(f"{findings[0].doc.slug}: filed: ")


def test_an_error_that_lasts_is_printed_once_and_shown_in_the_status(
    auto: Auto, findings: list[Draft], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of our own too."""

    def fail(*_: object) -> None:
        raise KeyError("release")

    monkeypatch.setattr("fuzzer.filing.auto.submit", fail)
    with auto.filer:
        auto.new += [draft.doc for draft in findings[:3]]
    slug = findings[0].doc.slug
    assert auto.messages == [f"{slug}: not filed: KeyError: 'release'; it is tried again every 60 s"]
    assert waits(findings) == "3 findings could not be filed yet: KeyError: 'release'"


def test_an_error_that_json_cannot_hold_does_not_end_the_filing(
    auto: Auto, findings: list[Draft], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Draft] = []

    def fail(draft: Draft, *_: object) -> None:
        tried.append(draft)
        raise OSError(f"no file '\udcff{len(tried)}'")

    monkeypatch.setattr("fuzzer.filing.auto.submit", fail)
    monkeypatch.setattr("fuzzer.filing.auto.LOOK_SECONDS", 0.01)
    with auto.filer:
        auto.new += [draft.doc for draft in findings[:1]]
        until(lambda: len(tried) == 1)
        auto.new += [draft.doc for draft in findings[1:2]]
        until(lambda: len(tried) == 2)
    assert len(tried) == 4, "both were tried again at the end"
    assert waits(findings) == r"2 findings could not be filed yet: OSError: no file '\udcff3'"


def waits(findings: list[Draft]) -> str:
    """What `fuzz status` shows."""
    return filing_progress.read(findings[0].folder.parents[1]).line()


def test_a_broken_record_of_a_toolchain_is_reported_before_the_campaign_begins(
    auto: Auto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (registry.root() / "mine").mkdir(parents=True)
    (registry.root() / "mine" / registry.NAME).write_text("{")
    with pytest.raises(Invalid, match="`fuzz toolchain remove mine` removes it"), auto.filer:
        raise AssertionError("it began")
    assert "filing" not in [thread.name for thread in threading.enumerate()]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_nobody_answers_and_no_campaign_begins(auto: Auto, server: GitHubServer) -> None:
    server.token = "another"
    with pytest.raises(Unreachable, match="401 Bad credentials"), auto.filer:
        raise AssertionError("it began")
    assert "filing" not in [thread.name for thread in threading.enumerate()]


def test_two_campaigns_that_find_the_same(server: GitHubServer, findings: list[Draft], tmp_path: Path) -> None:
    one, other = Auto(server, findings, tmp_path), Auto(server, findings, tmp_path)
    with one.filer, other.filer:
        for each in (one, other):
            each.new.append(findings[0].doc)
    assert len(server.sent) == 1
    assert sorted(messages[0].partition(": ")[2] for messages in (one.messages, other.messages)) == [
        f"filed by an earlier attempt: {server.url}/{REPO}/issues/1",
        f"filed: {server.url}/{REPO}/issues/1",
    ]
