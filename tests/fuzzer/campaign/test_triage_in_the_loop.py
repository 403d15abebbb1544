"""Triage in a campaign on an executor made by hand: when sightings are investigated, and what comes of each."""

from __future__ import annotations

import errno
import json
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakes
import pytest
from campaigns_by_hand import (
    HONEST,
    RIGHT,
    FakeExecutor,
    PaidExecutor,
    WatchedTests,
    cases,
    first_of,
    refused,
    settings,
)
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.campaign.plan.settings import RunLimits, Settings, TriageLimits
from fuzzer.campaign.plan.test_numbers import Share
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store import state
from fuzzer.campaign.store.layout import PARKED, WAITING
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage import attempts, waiting
from fuzzer.campaign.triage.triage import TROUBLE
from fuzzer.campaign.triage.waiting_item import Item
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun, Tool
from fuzzer.lanes import TVM_LANES
from fuzzer.seeds.around import Around
from fuzzer.system.files import remove_folder
from fuzzer.triage import undisturbed
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.triage.metered import MeteredLab
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Skipped, Stage


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


class ShortOfDisk(FakeExecutor):
    """The disk is short as soon as a sighting waits, as long as `is_short`."""

    def __init__(self, folder: Path) -> None:
        super().__init__({"number 0": refused(0)})
        self.folder, self.is_short = folder, True

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = super().run(case, lanes)
        if self.is_short and any((self.folder / WAITING).glob("*/finding.json")):
            full = Skipped("less than 0.50 GB of the disk are free", environment=True)
            return replace(result, outcomes=dict.fromkeys(lanes, full))
        return result

    run_fresh = run


def test_a_sighting_waits_on_while_the_machine_lacks_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(undisturbed, "PAUSES", (0.0,))
    executor = ShortOfDisk(tmp_path)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(1))
        campaign.run()
        assert (campaign.triage.new, len(campaign.triage.queue)) == ([], 1)
    assert "it waits on, because this machine lacks something for it: less than 0.50 GB" in capsys.readouterr().err
    executor.is_short = False
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(1))
        campaign.run()
        (doc,) = campaign.triage.new
        assert not doc.flaky
        assert len(campaign.triage.queue) == 0


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
        listed = message.replace("_", "\\_")
        assert (f"- {listed}\n\n```\nInvalid write\nat 0x60\n```\n" in (folder / "issue.md").read_text()) is ran
        assert (f"compute-sanitizer {message}\nInvalid write\nat 0x60\n" in (folder / "log.txt").read_text()) is ran
    assert {doc.kind for doc in campaign.triage.new} == {Kind.REJECTED, Kind.WRONG_VALUE}


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
        return Result({**honest(case, lanes).outcomes, **dict.fromkeys(first_of(lanes), sin)})

    executor.run = executor.run_fresh = run
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, one)
        campaign.run()
    assert [(doc.identity.skeleton, doc.ops, doc.found_in) for doc in campaign.triage.new] == [
        ("no layout for both", ["relu", "neg"], ["relu", "neg"]),
        ("no room for one", ["relu"], ["relu"]),
    ]


def test_a_long_investigation_goes_on_after_the_others(tmp_path: Path) -> None:
    """One failure needs two operators of nine, and each of its runs takes a CPU second. A short one waits beside it."""
    names = ("relu", "neg", "abs", "tanh", "sin", "exp", "cos", "sigmoid", "erf")
    calls: list[Any] = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(names)]
    long = case_of({"x0": "float32[2]"}, calls, "v8")
    short = case_of({"x0": "float32[2]"}, [("v0", "ceil", "x0")], "v0")

    def one(index: int) -> Case | None:
        return replace((long, short)[index], origin=f"number {index}") if index < 2 else None

    def refuses(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        ops = {*case.graph.ops}
        why = "no layout for both" if {"relu", "exp"} <= ops else "no room for one" if "ceil" in ops else ""
        return fakes.raised(Stage.IMPORT, "ValueError", why, fakes.REFUSAL) if why and lane == TVM_LANES[0] else None

    with Store(tmp_path, 1) as store:
        campaign = Campaign(replace(settings(tmp_path), triage=TriageLimits(share=0.0)), store, FakeLab(refuses), one)
        campaign.run()
        steps = store.state.counters.triage_steps
        spent = store.state.counters.triage_cpu_seconds
    found = [(doc.identity.skeleton, doc.ops) for doc in campaign.triage.new]
    assert found == [("no room for one", ["ceil"]), ("no layout for both", ["relu", "exp"])]
    assert sum(steps.values()) == pytest.approx(spent), "a part that goes on later is counted too"
    assert not list((tmp_path / WAITING).glob("*-*"))


def test_a_full_disk_costs_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the finding is saved, and has room a second later."""
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.1)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor({"number 1": refused(1)}), cases(3))
        written, full = store._write, iter([True, True])

        def write(found: Investigated, doc: FindingDoc) -> None:
            if next(full, False):
                raise OSError(errno.ENOSPC, "No space left on device")
            written(found, doc)

        store._write = write
        campaign.run()
        assert [doc.kind for doc in campaign.triage.new] == [Kind.REJECTED]
        assert list(store.state.found.values()) == [1]
        assert store.state.next_test == 3
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [campaign.triage.new[0].slug]


def test_an_investigation_that_is_cut_short_begins_anew_in_the_next_run(tmp_path: Path) -> None:
    """One worker investigates while the other does all other tests. Then the campaign is stopped."""
    others, stopped = threading.Event(), threading.Event()
    executor = FakeExecutor({"number 0": refused(0)})
    honest = executor.run

    def run_fresh(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if not stopped.is_set():
            others.wait(120)
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


@pytest.mark.slow
def test_triage_gets_its_share_while_tests_run_and_the_rest_of_the_time_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.campaign.triage.triage.PARTS", 0)
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
        assert store.state.counters.triage_used > 0.5
        counters = store.state.counters
        one = 3 * 10 + 5 * 1  # three fresh runs confirm each finding
        assert (counters.test_cpu_seconds, counters.triage_cpu_seconds) == (60, 8 * one)
        assert counters.triage_steps == {"confirm": 8 * 20, "name": 8 * 10, "reduce": 8 * 5}
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


@pytest.mark.slow
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


def undrained(folder: Path) -> Settings:
    """Tests alone: every sighting waits for the next run."""
    return replace(settings(folder), triage=TriageLimits(share=0.0, drain=0.0))


def with_waiting(folder: Path, count: int) -> FakeExecutor:
    """Run a campaign that leaves `count` sightings waiting. Return the compilers that show them."""
    executor = FakeExecutor({f"number {number}": refused(number) for number in range(count)})
    with Store(folder, 1) as store:
        Campaign(undrained(folder), store, executor, cases(count)).run()
    return executor


def nothing_works(case: Case, lanes: Sequence[LaneSpec]) -> Result:
    raise KeyError("nothing")


@pytest.mark.slow
@pytest.mark.parametrize(("sightings", "parked", "failed"), [(TROUBLE, 0, TROUBLE - 1), (4, 4, 0)])
def test_ten_failed_investigations_end_the_campaign(sightings: int, parked: int, failed: int, tmp_path: Path) -> None:
    """Nine fail and the tenth ends it; four that fail again and again are parked."""
    executor = with_waiting(tmp_path, sightings)
    executor.run_fresh = nothing_works
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(0))
        with pytest.raises(KeyError, match="nothing") if failed else nullcontext():
            campaign.run()
        assert (len(campaign.triage.queue), campaign.triage.queue.parked) == (sightings - parked, parked)
    waiting = [attempts.read(folder) for folder in (tmp_path / WAITING).iterdir()]
    assert sorted(each.failed for each in waiting) == [0] * (len(waiting) - failed) + [1] * failed


@pytest.mark.slow
def test_every_worker_stays_until_nothing_waits(tmp_path: Path) -> None:
    """One worker does the only test, and its sighting is reduced. The reduction comes across two others, which both
    workers investigate together."""
    whole = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0"), ("v1", "neg", "v0")], "v1")
    executor = FakeExecutor()
    honest = executor.run

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if not executor.ran:
            time.sleep(0.3)  # the other worker has nothing to do meanwhile
        why = {("relu", "neg"): 0, ("relu",): 1, ("neg",): 2}.get(case.graph.ops)
        sin = refused(why) if why is not None else HONEST
        return Result({**honest(case, lanes).outcomes, **dict.fromkeys(first_of(lanes), sin)})

    executor.run = executor.run_fresh = run
    together = threading.Barrier(2, timeout=120)
    with Store(tmp_path, 1) as store:
        two = replace(settings(tmp_path, workers=2), triage=TriageLimits(share=0.0))
        campaign = Campaign(two, store, executor, lambda index: whole if index == 0 else None)
        investigate = campaign.triage._investigate

        def investigate_together(lab: MeteredLab, item: Item, case: Case, sighting: Sighting) -> None:
            if len(item.ops) == 1:
                together.wait()
            investigate(lab, item, case, sighting)

        campaign.triage._investigate = investigate_together
        campaign.run()
    assert sorted(doc.ops for doc in campaign.triage.new) == [["neg"], ["relu"], ["relu", "neg"]]


@pytest.mark.slow
@pytest.mark.parametrize(("of_a_model", "reduced"), [(False, ["neg"]), (True, ["relu"])])
def test_a_campaign_around_a_model_reduces_to_operators_of_the_case(
    tmp_path: Path, of_a_model: bool, reduced: list[str]
) -> None:
    """Relu and neg fail alike, and neg is the plainer one."""
    whole = case_of({"x0": "float32[2]"}, [("v0", "exp", "x0"), ("v1", "relu", "v0")], "v1")
    executor = FakeExecutor()
    honest = executor.run

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        sin = HONEST if {"relu", "neg"}.isdisjoint(case.graph.ops) else refused(0)
        return Result({**honest(case, lanes).outcomes, **dict.fromkeys(first_of(lanes), sin)})

    executor.run = executor.run_fresh = run
    around = Around({"piece": whole}, {"exp": 1, "relu": 1}, {}) if of_a_model else None
    with Store(tmp_path, 1) as store:
        given = replace(settings(tmp_path), around=around)
        campaign = Campaign(given, store, executor, lambda index: whole if index == 0 else None)
        campaign.run()
    assert [doc.ops for doc in campaign.triage.new] == [reduced]


@pytest.mark.slow
def test_a_disk_that_is_full_before_an_investigation_pauses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written while the campaign pauses, and no worker asks in vain."""
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.1)
    executor = with_waiting(tmp_path, 1)
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(0))
        campaign.disk_space.free = lambda folder: 0 if campaign.progress.seconds < 1 else 10**12
        begun: list[float] = []
        begin = campaign.triage.queue.begin

        def full_at_first(item: Item) -> None:
            begun.append(campaign.progress.seconds)
            assert not campaign.pause_switch.is_set
            begin(item)

        campaign.triage.queue.begin = full_at_first
        campaign.run()
        assert len(campaign.triage.new) == len(begun) == 1
        assert begun[0] >= 1


def test_triage_alone_ends_in_time_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    executor = with_waiting(tmp_path, 1)
    with Store(tmp_path, 1) as store:
        work = replace(settings(tmp_path, RunLimits(tests=0)), triage=TriageLimits(share=1.0, drain=0.3))
        campaign = Campaign(work, store, executor, cases(0))
        campaign.disk_space.free = lambda folder: 0
        campaign.run()
        assert (campaign.triage.new, len(campaign.triage.queue)) == ([], 1)
        assert 0.3 <= campaign.progress.seconds < 5


def test_a_folder_that_is_removed_during_its_investigation_does_not_end_the_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = with_waiting(tmp_path, 2)
    honest, removed = executor.run_fresh, []

    def run_fresh(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if not removed:
            removed.extend(tmp_path.glob(f"{WAITING}/*"))
            for folder in removed:
                shutil.rmtree(folder)
            raise KeyError("no case")
        return honest(case, lanes)

    executor.run = executor.run_fresh = run_fresh
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, cases(0))
        campaign.run()
        assert (campaign.triage.new, len(campaign.triage.queue), campaign.triage.done) == ([], 0, 0)
    lines = sorted(line for line in capsys.readouterr().err.splitlines() if WAITING in line)
    assert lines == [f"{folder}: it was removed and is not investigated" for folder in sorted(removed)]


def test_a_sighting_of_what_another_campaign_found_meanwhile_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed: list[dict[str, int]] = []

    def remove(folder: Path) -> None:
        committed.append(counts(tmp_path))
        remove_folder(folder)

    monkeypatch.setattr(waiting, "remove_folder", remove)
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
    assert committed[-1] == {doc.signature: 1}, "before the folder of the sighting goes"


def counts(campaign: Path) -> dict[str, int]:
    """How often each finding was met, as it was committed."""
    found: dict[str, int] = json.loads((campaign / state.NAME).read_text())["seen"]
    return found


@pytest.mark.slow
def test_some_of_what_a_finding_explains_is_investigated_nevertheless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong results of one operator in cases of two. The finding explains each, and may hide another bug."""
    values = ("relu", "neg", "abs", "exp", "sin", "cos", "tanh", "sigmoid", "square", "erf", "sign", "ceil", "floor")
    executor = FakeExecutor()
    honest, after, whole = executor.run, [], []

    def drawn(index: int) -> Case | None:
        if index == len(values):
            return None
        ops = ("relu", values[index]) if index else ("relu",)
        names = ["x0", *(f"v{i}" for i in range(len(ops)))]
        nodes = [(names[i + 1], op, names[i]) for i, op in enumerate(ops)]
        return case_of({"x0": "float32[2]"}, nodes, names[-1])

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        sins = dict.fromkeys(first_of(lanes), fakes.wrong_value(RIGHT)) if "relu" in case.graph.ops else {}
        return Result({**honest(case, lanes).outcomes, **sins})

    executor.run = executor.run_fresh = run
    monkeypatch.setattr(Store, "_is_in_turn", lambda *_: True)
    monkeypatch.setattr("fuzzer.campaign.triage.triage.explained_by", lambda runner, case, sighting, known: known[0][1])
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, executor, drawn)
        investigate, done = campaign.triage._investigate, campaign.triage.queue.done

        def investigated(lab: MeteredLab, item: Item, case: Case, sighting: Sighting) -> None:
            whole.append(item.name)
            investigate(lab, item, case, sighting)

        def ended(item: Item, save: Callable[[int], Any]) -> Any:
            after.append(item.name in whole)
            return done(item, save)

        campaign.triage._investigate, campaign.triage.queue.done = investigated, ended
        campaign.run()
        assert after == [number in (0, 4, 8) for number in range(len(values))]
        assert sum(store.state.found.values()) == len(values)
