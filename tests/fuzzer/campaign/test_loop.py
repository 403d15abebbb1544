"""The loop of a campaign on an executor made by hand: which tests run, which are reported, and what is kept."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakes
import pytest
from campaigns_by_hand import (
    RIGHT,
    FakeExecutor,
    WatchedTests,
    cases,
    refused,
    settings,
    watch,
)
from fakes import TORCH

from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.settings import RunLimits, TriageLimits
from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.layout import ERRORS
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test import tiers
from fuzzer.campaign.test.failed_tests import TROUBLE
from fuzzer.campaign.test.tiers import TieredResult
from fuzzer.campaign.triage import waiting_item
from fuzzer.lanes import REFERENCES, SAMPLED_LANES, TVM_LANES
from fuzzer.triage.reproduce import judged_by
from generators import case_file
from generators.graph import Case, Invalid, Symbol
from oracles.finding import Kind
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Outcome, Result, Stage

SAMPLED = tuple(lane for lane in SAMPLED_LANES if lane.variant == "relax")
"""Those that give what the others give."""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_each_case_is_run_once_and_reported(tmp_path: Path, workers: int) -> None:
    watched: WatchedTests = []
    executor = FakeExecutor()
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path, workers=workers), store, executor, cases(7), watch(watched)).run()
        assert (store.state.next_test, store.state.counters.tests, store.state.counters.invalid) == (7, 7, 0)
    assert sorted(watched) == [(index, f"number {index}", []) for index in range(7)]
    assert sorted(executor.ran) == [(f"number {index}", (*REFERENCES, *TVM_LANES)) for index in range(7)]


def test_sampled_lanes_take_turns_and_bring_what_they_are_judged_by(tmp_path: Path) -> None:
    executor = FakeExecutor()
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path, in_turn=SAMPLED), store, executor, cases(20), watch([])).run()
    turns = [lane for lane in SAMPLED if not lane.symbolic]
    for origin, lanes in executor.ran:
        sampled = turns[int(origin.removeprefix("number ")) % len(turns)]
        assert lanes[: len(REFERENCES)] == REFERENCES
        assert {each for each in judged_by(sampled) if each.variant != "exported"} | set(TVM_LANES) <= set(lanes)
        assert set(lanes) & set(SAMPLED) == {sampled}


def test_cases_with_symbols_take_the_symbolic_lanes(tmp_path: Path) -> None:
    graph = replace(fakes.CASE.graph, symbols=(Symbol("n", 1, 4),))
    lanes = lanes_of(settings(tmp_path, in_turn=SAMPLED_LANES), 1, 0, Case(graph, fakes.CASE.tensors))
    assert [lane.name for lane in lanes if lane.symbolic] == ["relax-export-symbolic"]


def test_the_next_run_goes_on_behind_the_last_test(tmp_path: Path) -> None:
    watched: WatchedTests = []
    for tests in (2, 3, None, None):
        with Store(tmp_path, 1) as store:
            Campaign(settings(tmp_path, RunLimits(tests=tests)), store, FakeExecutor(), cases(7), watch(watched)).run()
    assert [index for index, _, _ in watched] == list(range(7))
    with Store(tmp_path, 1) as store:
        assert (store.state.next_test, store.state.counters.tests) == (7, 7)


def test_no_time_no_tests(tmp_path: Path) -> None:
    watched: WatchedTests = []
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path, RunLimits(seconds=0.0)), store, FakeExecutor(), cases(7), watch(watched)).run()
        assert store.state.next_test == 0
    assert watched == []


def test_findings_are_reported_and_saved(tmp_path: Path) -> None:
    watched: WatchedTests = []
    sins: dict[str, Outcome] = {
        "number 1": fakes.raised(Stage.IMPORT, "ValueError", "no layout", fakes.REFUSAL),
        "number 2": fakes.wrong_value(RIGHT),
    }
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor(sins), cases(4), watch(watched))
        campaign.run()
        assert {doc.kind for doc in campaign.triage.new} == {Kind.REJECTED, Kind.WRONG_VALUE}
        assert {doc.kind for doc in store.findings.values()} == {Kind.REJECTED, Kind.WRONG_VALUE}
    assert watched == [
        (0, "number 0", []),
        (1, "number 1", [Kind.REJECTED]),
        (2, "number 2", [Kind.WRONG_VALUE]),
        (3, "number 3", []),
    ]


def test_what_pytorch_refuses_is_counted_as_invalid(tmp_path: Path) -> None:
    executor = FakeExecutor()
    honest = executor.run

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return Result({**honest(case, lanes).outcomes, TORCH: fakes.raised(Stage.RUN)})

    executor.run = run
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, executor, cases(3)).run()
        assert (store.state.counters.tests, store.state.counters.invalid) == (3, 3)


def test_a_test_whose_watch_fails_is_repeated(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    with Store(tmp_path, 1) as store:
        with pytest.raises(OSError, match="no space left"):
            Campaign(settings(tmp_path), store, FakeExecutor(), cases(3), fail).run()
        assert store.state.next_test == 0


def test_a_stopped_campaign_takes_no_more_tests(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        watched: WatchedTests = []
        campaign = Campaign(settings(tmp_path), store, FakeExecutor(), cases(9), lambda *_: campaign.stop())
        campaign.run()
        assert (store.state.next_test, watched) == (1, [])


@pytest.mark.slow
def test_a_run_ends_after_its_limit_of_new_findings(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number) for number in (1, 2, 4, 5)}
    for next_test in (3, 6):
        with Store(tmp_path, 1) as store:
            campaign = Campaign(settings(tmp_path, RunLimits(new_findings=2)), store, FakeExecutor(sins), cases(8))
            campaign.run()
            assert len(campaign.triage.new) == 2
            assert store.state.next_test == next_test


@pytest.mark.slow
def test_shares_find_together_what_one_campaign_finds(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number % 5) for number in (1, 2, 4, 7)} | {"number 6": fakes.wrong_value(RIGHT)}
    found: list[set[str]] = []
    tests: list[int] = []
    for part, of in ((0, 1), (0, 2), (1, 2)):
        watched: WatchedTests = []
        with Store(tmp_path / f"{part}-{of}", 1) as store:
            share_settings = settings(tmp_path, share=Share(part, of, 0, 8))
            Campaign(share_settings, store, FakeExecutor(sins), cases(9), watch(watched)).run()
            found.append(set(store.findings))
        tests += [index for index, _, _ in watched]
    assert sorted(tests) == sorted([*range(8), *range(8)])
    assert len(found[0]) == 4
    assert found[1] | found[2] == found[0]


def test_nothing_runs_and_nothing_is_written_while_it_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    executor, free = FakeExecutor(), [0]
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(3))
        campaign.disk_space.free = lambda folder: free[0]
        rested: list[int] = []

        def rest() -> None:
            rested.append(len(executor.ran))
            assert not (tmp_path / "index.sqlite").exists()
            free[0] = 10**12

        campaign.when_idle = rest
        campaign.run()
        assert rested == [0]
        assert store.state.next_test == 3


@pytest.mark.slow
def test_a_paused_campaign_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path, RunLimits(seconds=0.2)), triage=TriageLimits(drain=0.3))
        campaign = Campaign(limits, store, FakeExecutor(), cases(3))
        campaign.pause_switch.set("asked")
        campaign.run()
        assert store.state.next_test == 0
        assert 0.5 <= campaign.progress.seconds < 5, "a pause takes no time from triage"


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_a_campaign_that_can_write_for_a_moment_only_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """As on a disk without inodes: each trial succeeds, and no test can be written."""
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.01)

    def fail(index: int) -> Case | None:
        if stopped:
            campaign.stop()
        if campaign.progress.seconds > 5:
            return None
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path, 1) as store:
        limits = settings(tmp_path, RunLimits(seconds=None if stopped else 0.2))
        campaign = Campaign(limits, store, FakeExecutor(), fail)
        campaign.run()
        assert store.state.next_test == 0
        assert campaign.progress.seconds < 5


@pytest.mark.parametrize(
    "error", [KeyError("no such operator"), Invalid("no such operator")], ids=["KeyError", "Invalid"]
)
def test_a_test_that_difftvm_cannot_do_is_kept_and_the_campaign_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    honest = cases(5)

    def drawn(index: int) -> Case | None:
        if index == 1:
            raise error
        return honest(index)

    executor = FakeExecutor()
    run = executor.run

    def failing(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        assert case.origin != "number 3", "an oracle is wrong"
        return run(case, lanes)

    executor.run = failing
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, executor, drawn).run()
        assert (store.state.next_test, store.state.counters.tests, store.state.counters.errors) == (5, 3, 2)
    without_case, with_case = (tmp_path / ERRORS / f"test-{number}" for number in (1, 3))
    assert "no such operator" in (without_case / "error.txt").read_text()
    assert (with_case / "error.txt").read_text().startswith("test 3 of seed 1\nTraceback")
    assert case_file.read(with_case).origin == "number 3"
    assert (
        "test 3: difftvm itself failed (AssertionError: an oracle is wrong); continuing; see" in capsys.readouterr().err
    )


def test_no_triage_is_waited_for_on_a_disk_that_fails_until_the_time_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triage may go on as long as it takes."""
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.1)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path, RunLimits(seconds=0.5)), store, FakeExecutor(), cases(10**6))
        campaign.disk_space.reserve = 10**18
        campaign.run()
        assert campaign.progress.seconds < 30


def test_a_full_disk_keeps_no_campaign_from_going_on_behind_our_own_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def drawn(index: int) -> Case | None:
        if index == 1:
            raise KeyError("no such operator")
        return cases(3)(index)

    monkeypatch.setattr("fuzzer.campaign.store.own_errors.write_folder", full)
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, FakeExecutor(), drawn).run()
        assert (store.state.next_test, store.state.counters.tests, store.state.counters.errors) == (3, 2, 1)


def test_where_every_test_goes_wrong_the_campaign_ends(tmp_path: Path) -> None:
    def drawn(index: int) -> Case | None:
        raise KeyError("no such operator")

    with Store(tmp_path, 1) as store:
        with pytest.raises(KeyError, match="no such operator"):
            Campaign(settings(tmp_path), store, FakeExecutor(), drawn).run()
        assert store.state.counters.errors == TROUBLE - 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.EDQUOT, errno.EIO, errno.EROFS], ids=["quota", "io-error", "read-only"])
def test_counters_that_cannot_be_saved_pause_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    with Store(tmp_path, 1) as store:
        full, shut = [True, True], []

        def drawn(index: int) -> Case | None:
            """The campaign has tests until its counters were saved after two failures."""
            return cases(index + 1)(index) if full or not shut else None

        def after_saving() -> None:
            if full:
                full.pop()
                raise OSError(number, "it cannot be written")
            shut.append(campaign.pause_switch.is_set)

        campaign = Campaign(settings(tmp_path), store, FakeExecutor(), drawn)
        campaign.progress.after_saving = after_saving
        campaign.run()
        assert store.state.next_test == store.state.counters.tests > 0
    assert full == []
    assert not any(shut)


@pytest.mark.parametrize("number", [errno.EIO, errno.EDQUOT])
def test_a_sighting_that_cannot_be_written_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    written, fails = waiting_item.write_folder, [True]

    def write(*arguments: Any) -> None:
        if fails:
            fails.pop()
            raise OSError(number, "it cannot be written")
        written(*arguments)

    monkeypatch.setattr("fuzzer.campaign.triage.waiting_item.write_folder", write)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor({"number 1": refused(1)}), cases(3))
        campaign.run()
        assert (store.state.next_test, store.state.counters.tests, store.state.counters.errors) == (3, 3, 0)
        assert [doc.kind for doc in campaign.triage.new] == [Kind.REJECTED]
    assert fails == []
    shown = capsys.readouterr().err
    assert f"paused: [Errno {number}] it cannot be written" in shown
    assert "the disk can be written again: continuing" in shown


def test_a_test_that_can_never_be_written_is_kept_as_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)

    def write(*_: Any) -> None:
        raise OSError(errno.EIO, "it cannot be written")

    monkeypatch.setattr("fuzzer.campaign.triage.waiting_item.write_folder", write)
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, FakeExecutor({"number 1": refused(1)}), cases(3)).run()
        assert (store.state.next_test, store.state.counters.tests, store.state.counters.errors) == (3, 2, 1)


def test_an_error_of_difftvm_in_a_lane_is_counted_and_kept_and_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Broken(Stage.COMPILE, "KeyError: 'x'\nTraceback ...")
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor({f"number {n}": broken for n in (0, 2)}), cases(3))
        campaign.run()
        assert (store.state.counters.tests, store.state.counters.errors, campaign.triage.new) == (3, 0, [])
        ((lane, times),) = store.state.counters.broken.items()
    assert times == 2
    assert sorted(path.name for path in (tmp_path / ERRORS).iterdir()) == ["lane-0", "lane-2"]
    kept = (tmp_path / ERRORS / "lane-2" / "error.txt").read_text()
    assert kept == f"test 2 of seed 1\n{lane}: {broken.error}"
    assert (tmp_path / ERRORS / "lane-2" / case_file.JSON_NAME).exists()
    lines = [line for line in capsys.readouterr().err.splitlines() if "difftvm itself failed" in line]
    assert lines == [
        f"test 0: difftvm itself failed in lane {lane} (KeyError: 'x'); continuing; see {tmp_path / ERRORS / 'lane-0'}"
    ]


def test_a_wrong_evaluation_is_counted_when_its_test_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_test(*arguments: Any) -> TieredResult:
        return replace(tiers.run_test(*arguments), evaluation_disagrees=(TVM_LANES[0],))

    def fail(*_: object) -> None:
        raise OSError("no such place")

    monkeypatch.setattr("fuzzer.campaign.test.one_test.run_test", run_test)
    with Store(tmp_path, 1) as store:
        with pytest.raises(OSError, match="no such place"):
            Campaign(settings(tmp_path), store, FakeExecutor(), cases(1), fail).run()
        assert (store.state.counters.evaluation_disagrees, (tmp_path / ERRORS).exists()) == ({}, False)
        Campaign(settings(tmp_path), store, FakeExecutor(), cases(1)).run()
        assert store.state.counters.evaluation_disagrees == {TVM_LANES[0].name: 1}
    assert [path.name for path in (tmp_path / ERRORS).iterdir()] == ["evaluation-0"]
