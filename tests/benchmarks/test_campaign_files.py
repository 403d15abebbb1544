"""What a campaign's directory holds, counted as distinct failures, also in the form of an earlier version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import campaign_files
from campaign_files import Counted, Distinct, Tally
from folders_by_hand import add, error, flaky, wrong_value

from fuzzer.campaign.store.rows import IndexRow
from fuzzer.campaign.store.store import Store
from oracles.finding import Component


def test_a_directory_without_findings_has_none(tmp_path: Path) -> None:
    assert campaign_files.read(tmp_path) == campaign_files.NOTHING
    assert campaign_files.distinct_in(campaign_files.NOTHING) == Distinct(0, 0, 0, 0, 0)


def test_findings_and_sightings_are_counted_by_their_signatures(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"), error("no kernel"), wrong_value("relu"), wrong_value("neg"))
    add(tmp_path, "crashes", flaky(error("now and then")), error("a bad file", Component.EXPORTER))
    add(tmp_path, "waiting", error("no layout"), error("no memory"), error("now and then"), wrong_value("abs"))
    add(tmp_path, "waiting", error("another bad file", Component.EXPORTER))
    add(tmp_path, "parked", error("it is gone"))
    found = campaign_files.distinct_in(campaign_files.read(tmp_path))
    # waiting: only "no memory" is of no finding. Coarse: no layout, no kernel, wrong values, no memory
    assert found == Distinct(final=4, waiting=1, coarse=4, parked=1, flaky=1)
    assert found.total == 5


def test_what_was_known_is_not_new(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"))
    add(tmp_path, "waiting", error("no memory"))
    before = campaign_files.read(tmp_path)
    (new,) = add(tmp_path, "crashes", error("no kernel"))
    after = campaign_files.read(tmp_path).without(before)
    assert (list(after.saved), dict(after.waiting)) == ([new], {})


def test_a_known_failure_is_not_new_under_another_name(tmp_path: Path) -> None:
    add(tmp_path, "crashes", error("no layout"), wrong_value("relu"))
    add(tmp_path, "waiting", error("no memory"), replace(wrong_value("abs"), found_in=("abs", "exp")))
    known = campaign_files.read(tmp_path)
    # two sightings were investigated: their cases are others now
    add(tmp_path, "crashes", replace(error("no memory", op="exp"), found_in=("relu", "neg")))
    add(tmp_path, "crashes", replace(wrong_value("neg"), found_in=("abs", "exp")))
    add(tmp_path, "waiting", replace(wrong_value("exp"), found_in=("exp", "relu")))  # it has all operators of a finding
    assert campaign_files.distinct_in(campaign_files.read(tmp_path), known) == Distinct(0, 0, 0, 0, 0)
    add(tmp_path, "crashes", wrong_value("tanh"))
    add(tmp_path, "waiting", error("no kernel"))
    assert campaign_files.distinct_in(campaign_files.read(tmp_path), known) == Distinct(1, 1, 2, 0, 0)


def test_a_damaged_folder_is_named_and_an_incomplete_one_left_out(tmp_path: Path) -> None:
    (name,) = add(tmp_path, "waiting", error("no layout"))
    (tmp_path / "waiting" / ".tmp-abc").mkdir()
    (tmp_path / "waiting" / name / "case.json").write_text("{}")
    assert campaign_files.read(tmp_path).unreadable == ()  # the case is not read
    folders = campaign_files.read(tmp_path, with_cases=True)
    assert not folders.waiting
    (line,) = folders.unreadable
    assert name in line


def test_the_case_of_a_finding_is_found_where_it_is(tmp_path: Path) -> None:
    (name,) = add(tmp_path, "parked", wrong_value("abs"))
    assert campaign_files.case_in(tmp_path, name).graph.ops == ("abs",)


def test_counters_of_an_earlier_version_lack_the_cpu_time_of_tests_and_triage(tmp_path: Path) -> None:
    assert campaign_files.counted_in(tmp_path) == Counted()
    assert campaign_files.cpu_seconds_of_tests(tmp_path) is None
    with Store(tmp_path, 1) as store:
        store.state.counters.tests = 2
        store.record(IndexRow(0, 1500, (), frozenset()))
        store.record(IndexRow(1, 250, (), frozenset()))
    text = (
        '{"seed": 1, "tally": {"tests": 2, "cpu_seconds": 9.5, "lane_results": 4}, "seen": {"ab": 3}, "next_test": 2}'
    )
    (tmp_path / "campaign.json").write_text(text)
    assert campaign_files.counted_in(tmp_path) == Counted(Tally(2, 9.5), 2, {"ab": 3})
    assert campaign_files.cpu_seconds_of_tests(tmp_path) == 1.75  # the index has it by test
    (tmp_path / "campaign.json").write_text('{"tally": {"test_cpu_seconds": 4.5, "triage_cpu_seconds": 2.0}}')
    assert campaign_files.cpu_seconds_of_tests(tmp_path) == 4.5
