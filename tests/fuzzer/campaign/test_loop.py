"""The loop of a campaign on an executor made by hand: which tests run, which are reported, and what is kept."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from fakes import TORCH
from graphs_by_hand import case_of

from fuzzer.campaign.failed_tests import TROUBLE
from fuzzer.campaign.lane_mix import lanes_of
from fuzzer.campaign.layout import ERRORS, PARKED, WAITING
from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.settings import LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.store import Store
from fuzzer.campaign.test_numbers import ALL, Share
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun, Tool
from fuzzer.lanes import REFERENCES, SAMPLED_LANES, TVM_LANES
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.reproduce import judged_by
from generators import case_file
from generators.graph import Case, Symbol
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

RIGHT = fakes.TWO_OUTPUTS
HONEST: Outcome = fakes.correct(RIGHT)
SAMPLED = tuple(lane for lane in SAMPLED_LANES if lane.variant == "relax")
"""Those that give what the others give."""


class FakeExecutor:
    """Honest lanes, but for what `sins` says of some tests' cases."""

    def __init__(self, sins: dict[str, Outcome] | None = None) -> None:
        self.sins = sins or {}
        self.versions = {"tvm": "0"}
        self.cpu_seconds = 0.0
        self.reports: tuple[SanitizerReport, ...] = ()
        self.script = ScriptRun(SHOWS)
        self.scripts: list[str] = []
        self.ran: list[tuple[str, tuple[LaneSpec, ...]]] = []
        self._lock = threading.Lock()

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        with self._lock:
            self.ran.append((case.origin, tuple(lanes)))
        outcomes: dict[LaneSpec, Outcome] = dict(fakes.references(*RIGHT))
        outcomes |= {lane: HONEST for lane in lanes if lane not in outcomes}
        if case.origin in self.sins:
            outcomes |= dict.fromkeys(_first_of(lanes), self.sins[case.origin])
        return Result({lane: outcomes[lane] for lane in lanes})

    run_fresh = run

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.scripts.append(source)
        return self.script

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self.reports


def _first_of(lanes: Sequence[LaneSpec]) -> list[LaneSpec]:
    """TVM's first lane, as triage runs it too."""
    return [lane for lane in lanes if fakes.as_named(lane) == TVM_LANES[0]]


def cases(count: int) -> Callable[[int], Case | None]:
    def case(index: int) -> Case | None:
        return Case(fakes.CASE.graph, fakes.CASE.tensors, origin=f"number {index}") if index < count else None

    return case


def settings(
    folder: Path,
    run: RunLimits = RunLimits(),
    *,
    in_turn: tuple[LaneSpec, ...] = (),
    workers: int = 1,
    share: Share = ALL,
) -> Settings:
    return Settings(folder, 1, LaneMix(TVM_LANES, in_turn), run, workers=workers, share=share)


WatchedTests = list[tuple[int, str, list[Kind]]]


def watch(watched: WatchedTests) -> Callable[[int, Case, Result, Sequence[Finding]], None]:
    return lambda index, case, result, found: watched.append((index, case.origin, [finding.kind for finding in found]))


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


@pytest.mark.parametrize(("code", "lines"), [(SHOWS, 0), (0, 1)])
def test_the_script_of_a_finding_runs_once_and_one_that_does_not_fail_is_reported(
    code: int, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = FakeExecutor({f"number {index}": refused(0) for index in range(3)})
    executor.script = ScriptRun(code)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(3))
        campaign.run()
        (doc,) = campaign.triage.new
    assert executor.scripts == [(tmp_path / "crashes" / doc.slug / "repro.py").read_text()]
    assert finding_file.read(tmp_path / "crashes" / doc.slug).script == ScriptRun(code)
    assert capsys.readouterr().err.count("its repro.py says that the bug is gone (exit code 0)") == lines


def test_what_compute_sanitizer_saw_stands_in_the_report_of_what_ran(tmp_path: Path) -> None:
    executor = FakeExecutor(
        {
            "number 0": fakes.raised(Stage.IMPORT, "ValueError", "no layout", fakes.REFUSAL),
            "number 1": fakes.wrong_value(RIGHT),
        }
    )
    executor.reports = (SanitizerReport(Tool.MEMCHECK, 3, "Invalid write", "add_kernel", ("Invalid write", "at 0x60")),)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(2))
        campaign.run()
    message = "memcheck: 3 errors, the first 'Invalid write', in the kernel add_kernel"
    for doc in campaign.triage.new:
        folder, ran = tmp_path / "crashes" / doc.slug, doc.kind is Kind.WRONG_VALUE
        assert (f"- {message}\n\n```\nInvalid write\nat 0x60\n```\n" in (folder / "issue.md").read_text()) is ran
        assert (f"compute-sanitizer {message}\nInvalid write\nat 0x60\n" in (folder / "log.txt").read_text()) is ran
    assert {doc.kind for doc in campaign.triage.new} == {Kind.REJECTED, Kind.WRONG_VALUE}


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


def test_what_a_reduction_came_across_is_a_finding_of_its_own(tmp_path: Path) -> None:
    """Two operators are refused for one reason, the first of them alone for another."""
    whole = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0"), ("v1", "neg", "v0")], "v1")

    def one(index: int) -> Case | None:
        return replace(whole, origin="whole") if index == 0 else None

    executor = FakeExecutor()
    honest = executor.run

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        why = {("relu", "neg"): "no layout for both", ("relu",): "no room for one"}.get(case.graph.ops)
        sin = fakes.raised(Stage.IMPORT, "ValueError", why, fakes.REFUSAL) if why else HONEST
        return Result({**honest(case, lanes).outcomes, **dict.fromkeys(_first_of(lanes), sin)})

    executor.run = executor.run_fresh = run
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, one)
        campaign.run()
    assert [(doc.identity.skeleton, doc.ops, doc.found_in) for doc in campaign.triage.new] == [
        ("no layout for both", ["relu", "neg"], ["relu", "neg"]),
        ("no room for one", ["relu"], ["relu"]),
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


def refused(number: int) -> Outcome:
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven")  # numbers are not part of a signature
    return fakes.raised(Stage.IMPORT, "ValueError", f"no layout for {words[number]}", fakes.REFUSAL)


def test_it_ends_with_so_many_new_findings(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number) for number in (1, 2, 4, 5)}
    for next_test in (3, 6):
        with Store(tmp_path, 1) as store:
            campaign = Campaign(settings(tmp_path, RunLimits(new_findings=2)), store, FakeExecutor(sins), cases(8))
            campaign.run()
            assert len(campaign.triage.new) == 2
            assert store.state.next_test == next_test


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


def test_a_full_disk_costs_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the finding is saved, and has room a second later."""
    monkeypatch.setattr("fuzzer.campaign.loop.SAVE_SECONDS", 0.1)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor({"number 1": refused(1)}), cases(3))
        written, full = store._write, iter([True, True])

        def write(found: Confirmed, doc: FindingDoc) -> None:
            if next(full, False):
                raise OSError(errno.ENOSPC, "No space left on device")
            written(found, doc)

        store._write = write
        campaign.run()
        assert [doc.kind for doc in campaign.triage.new] == [Kind.REJECTED]
        assert list(store.state.found.values()) == [1]
        assert store.state.next_test == 3
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [campaign.triage.new[0].slug]


def test_nothing_runs_and_nothing_is_written_while_it_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.campaign.loop.SAVE_SECONDS", 0.05)
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


def test_a_paused_campaign_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.campaign.loop.SAVE_SECONDS", 0.05)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path, RunLimits(seconds=0.2)), store, FakeExecutor(), cases(3))
        campaign.gate.close("asked")
        campaign.run()
        assert store.state.next_test == 0


def test_an_investigation_that_is_cut_short_begins_anew_in_the_next_run(tmp_path: Path) -> None:
    """One worker investigates while the other does all other tests. Then the campaign is stopped."""
    others, stopped = threading.Event(), threading.Event()
    executor = FakeExecutor({"number 0": refused(0)})
    honest = executor.run

    def run_fresh(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if not stopped.is_set():
            others.wait(20)
            stopped.set()
            campaign.stop()
        return honest(case, lanes)

    executor.run_fresh = run_fresh
    watched: WatchedTests = []

    def count(index: int, case: Case, result: Result, found: Sequence[Finding]) -> None:
        watched.append((index, case.origin, []))
        if len(watched) == 9:
            others.set()

    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path, workers=2), store, executor, cases(9), count)
        campaign.run()
        assert (store.state.next_test, store.state.counters.tests, len(campaign.triage.new)) == (9, 9, 0)
        assert len(campaign.triage.queue) == 1
    with Store(tmp_path, 1) as store:
        again = Campaign(settings(tmp_path), store, executor, cases(9), count)
        again.run()
        assert (store.state.counters.tests, len(again.triage.new), len(again.triage.queue)) == (9, 1, 0)
    assert sorted(index for index, _, _ in watched) == list(range(9)), "no test is repeated"


class PaidExecutor(FakeExecutor):
    """Each run of a test takes one CPU second, each run of triage ten."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return replace(super().run(case, lanes), cpu_seconds=1.0)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return replace(super().run(case, lanes), cpu_seconds=10.0)


def test_triage_gets_its_share_while_tests_run_and_the_rest_of_the_time_after_them(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number) for number in range(8)}
    at: dict[str, int] = {}

    def watch_new(index: int, *_: object) -> None:
        for doc in campaign.triage.new:
            at.setdefault(doc.slug, index)

    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path), triage=TriageLimits(share=0.5))
        campaign = Campaign(limits, store, PaidExecutor(sins), cases(60), watch_new)
        campaign.run()
        assert len(campaign.triage.new) == 8
        counters = store.state.counters
        assert counters.triage_used > 0.5
        assert (counters.test_cpu_seconds, counters.triage_cpu_seconds) == (60, campaign.share.triage_seconds)
    assert 0 < len(at) < 8, "some were investigated while tests ran"


@pytest.mark.parametrize("limits", [RunLimits(tests=3), RunLimits(tests=3, new_findings=1)])
def test_no_investigation_begins_after_the_time_for_them(tmp_path: Path, limits: RunLimits) -> None:
    """Triage may have the whole CPU, but not beyond the end of the run."""
    sins = {f"number {number}": refused(number) for number in range(3)}
    with Store(tmp_path, 1) as store:
        all_day = replace(settings(tmp_path, limits), triage=TriageLimits(share=1.0, drain=0.0))
        campaign = Campaign(all_day, store, PaidExecutor(sins), cases(9))
        campaign.run()
        new = 1 if limits.new_findings else 2  # the third test was the last
        assert (len(campaign.triage.new), store.state.counters.tests) == (new, 3 if new == 2 else 1)
    with Store(tmp_path, 1) as store:
        no_time = replace(settings(tmp_path, RunLimits(tests=0)), triage=TriageLimits(share=1.0, drain=0.0))
        campaign = Campaign(no_time, store, PaidExecutor(sins), cases(9))
        campaign.run()
        assert campaign.triage.new == []


def test_a_share_that_is_done_goes_on_with_triage(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number) for number in range(3)}
    with Store(tmp_path, 1) as store:
        share = settings(tmp_path, share=Share(end=3))
        campaign = Campaign(replace(share, triage=TriageLimits(share=0.0)), store, FakeExecutor(sins), cases(9))
        campaign.run()
        assert (store.state.counters.tests, len(campaign.triage.new), len(campaign.triage.queue)) == (3, 3, 0)


def test_what_waits_at_the_end_of_a_run_is_saved_and_investigated_by_the_next(tmp_path: Path) -> None:
    sins = {f"number {number}": refused(number) for number in range(3)}
    with Store(tmp_path, 1) as store:
        undrained = replace(settings(tmp_path), triage=TriageLimits(share=0.0, drain=0.0))
        campaign = Campaign(undrained, store, PaidExecutor(sins), cases(3))
        campaign.run()
        assert (len(campaign.triage.new), len(campaign.triage.queue)) == (0, 3)
    assert len(list((tmp_path / WAITING).iterdir())) == 3
    with Store(tmp_path, 1) as store:
        again = Campaign(settings(tmp_path), store, PaidExecutor(sins), cases(3))
        again.run()
        assert (len(again.triage.new), len(again.triage.queue)) == (3, 0)
    assert list((tmp_path / WAITING).iterdir()) == []


def test_a_sighting_that_difftvm_cannot_investigate_is_parked_and_the_campaign_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = FakeExecutor({"number 1": refused(1), "number 2": refused(2)})
    honest = executor.run

    def failing(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        assert case.origin != "number 1", "an oracle is wrong"
        return honest(case, lanes)

    executor.run_fresh = failing
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(4))
        campaign.run()
        assert (store.state.counters.tests, len(campaign.triage.new), campaign.triage.queue.parked) == (4, 1, 1)
    (parked,) = (tmp_path / PARKED).iterdir()
    assert "AssertionError: an oracle is wrong" in (parked / "attempts.txt").read_text()
    assert "difftvm itself failed (AssertionError: an oracle is wrong); continuing" in capsys.readouterr().err


def test_where_every_investigation_goes_wrong_the_campaign_ends_and_every_sighting_waits(tmp_path: Path) -> None:
    executor = FakeExecutor({f"number {number}": refused(number) for number in range(8)})
    executor.run_fresh = lambda case, lanes: {}["nothing"]
    with Store(tmp_path, 1) as store, pytest.raises(KeyError, match="nothing"):
        Campaign(settings(tmp_path), store, executor, cases(8)).run()
    assert len([*(tmp_path / WAITING).iterdir(), *(tmp_path / PARKED).iterdir()]) >= 4


def test_a_sighting_of_what_another_campaign_found_meanwhile_is_counted(tmp_path: Path) -> None:
    sins = {"number 0": refused(0)}
    with Store(tmp_path, 1) as store:
        undrained = replace(settings(tmp_path), triage=TriageLimits(share=0.0, drain=0.0))
        Campaign(undrained, store, PaidExecutor(sins), cases(1)).run()
    with Store(tmp_path / "other", 1) as store:
        other = Campaign(settings(tmp_path / "other"), store, FakeExecutor(sins), cases(1))
        other.run()
        (doc,) = other.triage.new
    shutil.copytree(tmp_path / "other" / "crashes" / doc.slug, tmp_path / "crashes" / doc.slug)
    executor = FakeExecutor(sins)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(0))
        campaign.run()
        assert (campaign.triage.new, len(campaign.triage.queue), executor.ran) == ([], 0, [])
        assert store.state.found == {doc.signature: 1}


def test_a_test_that_difftvm_cannot_do_is_kept_and_the_campaign_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = cases(5)

    def drawn(index: int) -> Case | None:
        if index == 1:
            raise KeyError("no such operator")
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


def test_a_full_disk_keeps_no_campaign_from_going_on_behind_our_own_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def drawn(index: int) -> Case | None:
        if index == 1:
            raise KeyError("no such operator")
        return cases(3)(index)

    monkeypatch.setattr("fuzzer.campaign.store.write_folder", full)
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
def test_counters_that_cannot_be_saved_on_a_full_disk_pause_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.campaign.loop.SAVE_SECONDS", 0.05)
    with Store(tmp_path, 1) as store:
        full, shut = [True, True], []

        def drawn(index: int) -> Case | None:
            """The campaign has tests until its counters were saved after two failures."""
            return cases(index + 1)(index) if full or not shut else None

        def after_saving() -> None:
            if full:
                full.pop()
                raise OSError(errno.EDQUOT, "Disk quota exceeded")
            shut.append(campaign.gate.is_closed)

        campaign = Campaign(settings(tmp_path), store, FakeExecutor(), drawn)
        campaign.progress.after_saving = after_saving
        campaign.run()
        assert store.state.next_test == store.state.counters.tests > 0
    assert full == []
    assert not any(shut)
