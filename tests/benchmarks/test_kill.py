"""The checks of benchmarks/kill.py, on directories made by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import kill
import pytest
from folders_by_hand import add, error, wrong_value

from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from generators import case_file
from oracles.outcome import Frame

FRAMES = (Frame("/src/codegen_c.cc", 7, "tvm::CodeGenC::VisitExpr_(tvm::CallNode const*)"),)


def write_counters(campaign: Path, next_test: int, **known: int) -> None:
    (campaign / "campaign.json").write_text(json.dumps({"next_test": next_test, "known": known}))


def move(campaign: Path, name: str, place: str) -> None:
    (campaign / place).mkdir(exist_ok=True)
    (campaign / "waiting" / name).rename(campaign / place / name)


def save(campaign: Path, message: str) -> Path:
    """Save a finding as a campaign does; return its folder."""
    found = error(message)
    with Store(campaign, 1) as store:
        doc = store.save(found, {"tvm": "0.27.0"})
    assert doc is not None
    return campaign / "crashes" / doc.slug


def lost(before: kill.Left, campaign: Path) -> list[str]:
    return list(kill.lost(before, kill.left_in(campaign)))


def test_a_whole_directory_has_nothing_wrong(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"))
    add(tmp_path, "waiting", error("no memory"))
    add(tmp_path, "parked", wrong_value())
    left = kill.left_in(tmp_path)
    assert list(kill.incomplete(tmp_path, left.folders)) == []
    assert lost(left, tmp_path) == []


def test_missing_files_and_unreadable_folders_are_noticed(tmp_path: Path) -> None:
    (saved,) = add(tmp_path, "crashes", error("no layout"))
    (waiting,) = add(tmp_path, "waiting", error("no memory"))
    (tmp_path / "crashes" / saved / "repro.py").unlink()
    (tmp_path / "waiting" / waiting / case_file.JSON_NAME).unlink()
    unreadable, lacking = kill.incomplete(tmp_path, kill.left_in(tmp_path).folders)
    assert waiting in unreadable
    assert lacking == f"crashes/{saved}: repro.py is missing"


def test_a_finding_that_is_gone_or_changed_is_noticed(tmp_path: Path) -> None:
    one, two = sorted(add(tmp_path, "crashes", error("no layout"), error("no kernel")))
    before = kill.left_in(tmp_path)
    (tmp_path / "crashes" / one / "ir-after.txt").write_text("more")
    (tmp_path / "crashes" / two).rename(tmp_path / "two")
    assert sorted(lost(before, tmp_path)) == sorted([f"crashes/{one}: changed", f"crashes/{two}: gone"])


def test_a_sighting_may_become_a_finding_or_be_parked(tmp_path: Path) -> None:
    one, two, three = add(tmp_path, "waiting", error("no layout"), error("no memory"), wrong_value("abs"))
    before = kill.left_in(tmp_path)
    move(tmp_path, one, "parked")
    for name in (two, three):
        move(tmp_path, name, "elsewhere")
    add(tmp_path, "crashes", error("no memory", op="neg"), wrong_value("abs"))  # one reduced case is another
    assert lost(before, tmp_path) == []


def test_a_finding_of_other_operators_does_not_account_for_a_wrong_result(tmp_path: Path) -> None:
    (name,) = add(tmp_path, "waiting", wrong_value("abs"))
    before = kill.left_in(tmp_path)
    move(tmp_path, name, "elsewhere")
    add(tmp_path, "crashes", wrong_value("exp"))
    assert lost(before, tmp_path) == [f"waiting/{name}: gone, and neither found nor known"]


def test_a_finding_whose_case_was_the_sightings_accounts_for_it(tmp_path: Path) -> None:
    (name,) = add(tmp_path, "waiting", wrong_value("abs"))
    before = kill.left_in(tmp_path)
    move(tmp_path, name, "elsewhere")
    reduced = replace(wrong_value("exp"), found_in=("neg", "abs"))  # a simpler operator shows it too
    add(tmp_path, "crashes", reduced)
    assert lost(before, tmp_path) == []


def test_a_sighting_may_not_vanish_whatever_is_counted(tmp_path: Path) -> None:
    one, two = sorted(add(tmp_path, "waiting", error("no layout"), error("no memory")))
    write_counters(tmp_path, 3, ab=1)
    before = kill.left_in(tmp_path)
    for name in (one, two):
        move(tmp_path, name, "elsewhere")
    write_counters(tmp_path, 3, ab=7)
    assert lost(before, tmp_path) == [f"waiting/{name}: gone, and neither found nor known" for name in (one, two)]


def test_a_sighting_is_counted_for_a_message_that_names_another_operator(tmp_path: Path) -> None:
    cos, acos = (error(f"Unresolved call tirx.{name}", frames=FRAMES) for name in ("cos", "acos"))
    (name,) = add(tmp_path, "waiting", cos)
    add(tmp_path, "crashes", acos)
    (doc,) = kill.left_in(tmp_path).folders.saved.values()
    for times, gone in ((1, [f"waiting/{name}: gone, and neither found nor known"]), (2, [])):
        before = kill.left_in(tmp_path)
        move(tmp_path, name, "elsewhere")
        (tmp_path / "campaign.json").write_text(json.dumps({"next_test": 3, "seen": {doc.signature: times}}))
        assert lost(before, tmp_path) == gone
        (tmp_path / "elsewhere" / name).rename(tmp_path / "waiting" / name)


def missed(once: Path, campaign: Path, twice: Path | None = None) -> list[str]:
    again = None if twice is None else kill.left_in(twice)
    return list(kill.missed(kill.left_in(once), kill.left_in(campaign), again))


def test_what_a_test_shows_must_be_somewhere_in_the_campaign(tmp_path: Path) -> None:
    again, campaign = tmp_path / "again", tmp_path / "campaign"
    names = add(again, "waiting", error("no layout"), error("no memory"), error("no kernel"), wrong_value("abs"))
    add(campaign, "crashes", error("no layout", op="neg"))
    add(campaign, "waiting", error("no memory", op="neg"), wrong_value("exp"))
    add(campaign, "parked", error("no kernel"))
    assert missed(again, campaign) == [f"{names[3]}: a test shows it, and the campaign does not have it"]
    add(campaign, "waiting", wrong_value("abs"))
    assert missed(again, campaign) == []


def test_what_tests_show_only_once_may_lack_in_the_campaign(tmp_path: Path) -> None:
    once, twice, campaign = tmp_path / "once", tmp_path / "twice", tmp_path / "campaign"
    add(once, "waiting", error("no memory"))
    (always,) = add(once, "waiting", error("no layout"))
    add(twice, "waiting", error("no layout"))
    campaign.mkdir()
    assert missed(once, campaign, twice) == [f"{always}: a test shows it, and the campaign does not have it"]


def test_known_behaviour_that_a_test_shows_must_be_counted(tmp_path: Path) -> None:
    again, campaign = tmp_path / "again", tmp_path / "campaign"
    for folder in (again, campaign):
        folder.mkdir()
    write_counters(again, 9, old=2)
    write_counters(campaign, 9)
    assert missed(again, campaign) == ["old: a test shows this known issue, and the campaign has not counted it"]
    write_counters(campaign, 9, old=1)
    assert missed(again, campaign) == []


def test_a_parked_sighting_may_wait_again_and_may_not_vanish(tmp_path: Path) -> None:
    one, two = add(tmp_path, "parked", error("no layout"), error("no memory"))
    before = kill.left_in(tmp_path)
    (tmp_path / "waiting").mkdir()
    (tmp_path / "parked" / one).rename(tmp_path / "waiting" / one)
    (tmp_path / "parked" / two).rename(tmp_path / "two")
    assert lost(before, tmp_path) == [f"parked/{two}: gone, and neither found nor known"]


def test_a_campaign_that_went_back_is_noticed(tmp_path: Path) -> None:
    write_counters(tmp_path, 5)
    before = kill.left_in(tmp_path)
    write_counters(tmp_path, 4)
    assert lost(before, tmp_path) == ["the next test was 5, and is 4 now"]


def test_an_index_that_is_damaged_or_knows_too_much_is_noticed(tmp_path: Path) -> None:
    assert list(kill.unsound(tmp_path)) == []
    folder = save(tmp_path, "no layout")
    assert list(kill.unsound(tmp_path)) == []
    folder.rename(tmp_path / "gone")
    assert list(kill.unsound(tmp_path)) == [f"index.sqlite: it has {folder.name}, which is not in crashes/"]


def test_more_finished_tests_than_workers_may_not_be_missing(tmp_path: Path) -> None:
    campaign, finished = tmp_path / "campaign", tmp_path / "campaign.finished"
    campaign.mkdir()
    with Index(campaign) as written:
        written.write(State(1, campaign="me"), [index_row(number, 0.5, {}) for number in (0, 1, 2)])
    assert list(kill.repeated(campaign, finished)) == []
    finished.write_text("0\n2\n1\n3\n4\n")
    assert list(kill.repeated(campaign, finished)) == [], "each of two workers may lose one"
    assert finished.read_text() == "0\n1\n2\n", "these are repeated"
    finished.write_text("0\n2\n1\n3\n4\n5\n")
    assert list(kill.repeated(campaign, finished)) == ["index.sqlite: 3 finished tests are not in it: [3, 4, 5]"]


def test_what_the_next_start_does_not_sweep_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "crashes" / ".tmp-abc").mkdir(parents=True)
    (tmp_path / "crashes" / "x").mkdir()
    (tmp_path / "crashes" / "x" / ".tmp-issue.md-7").touch()
    (tmp_path / ".tmp-space").touch()
    (tmp_path / ".difftvm-scratch").mkdir()
    (tmp_path / ".difftvm-scratch" / ".tmp-of-a-lane").touch()
    before = kill.Left(kill.left_in(tmp_path).folders, {}, kill.Counted(), frozenset(kill._half_written(tmp_path)))
    assert before.half_written == {"crashes/.tmp-abc", "crashes/x/.tmp-issue.md-7", ".tmp-space"}
    (tmp_path / ".tmp-space").unlink()
    after = replace(before, half_written=frozenset(kill._half_written(tmp_path)))
    assert [line.partition(":")[0] for line in kill.not_swept(before, after, began_tests=True)] == [
        "crashes/.tmp-abc",
        "crashes/x/.tmp-issue.md-7",
    ]
    assert list(kill.not_swept(before, after, began_tests=False)) == [], "the kill may have come before"


def test_a_late_first_test_is_wrong_where_a_bound_is_given() -> None:
    assert list(kill.late(11.0, 10.0)) == ["the run began its tests after 11.0 s"]
    assert list(kill.late(9.0, 10.0)) == list(kill.late(11.0, None)) == []


@pytest.mark.slow
def test_fuzz_status_must_read_every_finding(tmp_path: Path) -> None:
    folder = save(tmp_path, "no layout")
    assert list(kill.wrong_status(tmp_path, 1)) == []
    (folder / "finding.json").write_text("{}")
    unreadable, count = kill.wrong_status(tmp_path, 1)
    assert folder.name in unreadable
    assert count == "fuzz status: 0 findings, and 1 in crashes/"


def test_moments_depend_on_the_seed_alone() -> None:
    drawn = list(kill.moments(1, 50, 10.0))
    assert drawn == list(kill.moments(1, 50, 10.0))
    assert drawn != list(kill.moments(2, 50, 10.0))
    assert [each.how for each in drawn] == [signal.SIGKILL] * 50 + [signal.SIGINT]
    assert sum(not each.of_tests for each in drawn) == 10
    assert all(0.5 <= each.seconds <= 10.0 for each in drawn)
    assert {each.victim for each in drawn} == {"supervisor"}
    assert {each.victim for each in kill.moments(1, 50, 10.0, ("zygote", "child"))} == {"zygote", "child", "supervisor"}
    assert str(drawn[1]).startswith("SIGKILL to the supervisor ")


@pytest.mark.slow
def test_processes_that_survive_are_noticed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        processes = kill.processes_of(os.getpid())
        assert process.pid in processes.started
        assert process.pid in processes.alive()
        process.communicate(b"\n")
    assert process.pid not in processes.alive()


def test_reports_and_a_natural_case_may_be_made_later(tmp_path: Path) -> None:
    (name,) = add(tmp_path, "crashes", error("no layout"))
    before = kill.left_in(tmp_path)
    for file in kill.MAY_CHANGE:
        (tmp_path / "crashes" / name / file).write_text("made later")
    assert lost(before, tmp_path) == []
