"""The scope of new findings in a campaign, on executors made by hand."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakes
import pytest
from campaigns_by_hand import FakeExecutor, cases, refused, settings

from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.plan.settings import RunLimits, TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.scopes import Scopes
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.report import closer_look
from fuzzer.triage.metered import MeteredLab
from fuzzer.triage.scope.statement import NO_SCOPE, Scope
from generators.case_file import TENSORS_NAME
from generators.graph import DRAWN, Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class CostlyExecutor(FakeExecutor):
    """Each run takes one CPU second."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return replace(super().run(case, lanes), cpu_seconds=1.0)

    run_fresh = run


class Damaging(list[FindingDoc]):
    """A list of new findings that damages each as soon as it is in it."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def append(self, doc: FindingDoc) -> None:
        super().append(doc)
        (self._store.crashes / doc.slug / TENSORS_NAME).write_bytes(b"")


def scopes_of(folder: Path, part: float, executor: FakeExecutor) -> list[Scope]:
    with Store(folder, 1) as store:
        limits = replace(settings(folder), triage=TriageLimits(scopes=part))
        Campaign(limits, store, executor, cases(2)).run()
        return [finding_file.read(store.crashes / doc.slug).scope for doc in store.findings.values()]


def failing(sort: type[FakeExecutor] = CostlyExecutor) -> FakeExecutor:
    return sort({"number 0": refused(0)})


@pytest.mark.slow
def test_a_new_finding_gets_its_scope_when_nothing_waits(tmp_path: Path) -> None:
    (scope,) = scopes_of(tmp_path, 0.25, failing())
    assert scope.variations
    assert scope.cases >= 10
    folder = next((tmp_path / "crashes").iterdir())
    assert "### Scope" in (folder / "issue.md").read_text()


@pytest.mark.slow
def test_a_scope_of_a_campaign_ends_after_twenty_cpu_seconds(tmp_path: Path) -> None:
    """Each run takes one CPU second. A scope without this limit goes on for more than a hundred runs."""
    (scope,) = scopes_of(tmp_path, 0.25, failing())
    assert scope.cut_short
    assert 20 <= scope.cpu_seconds <= 20 + len(DRAWN) + 2, "the dtypes are always asked"


@pytest.mark.slow
def test_only_the_most_severe_findings_get_their_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs cost nothing here, so that scopes are looked for when all sightings are investigated."""
    monkeypatch.setattr("fuzzer.campaign.triage.scopes.MOST_READ", 2)
    sins = {f"number {number}": refused(number) for number in range(5)}
    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path), triage=TriageLimits(share=0.0, scopes=0.25))
        Campaign(limits, store, FakeExecutor(sins), cases(5)).run()
        docs = [finding_file.read(store.crashes / slug) for slug in sorted(doc.slug for doc in store.findings.values())]
    assert [bool(doc.scope.cases) for doc in docs] == [True, True, False, False, False]


def test_with_a_part_of_nothing_no_scope_is_looked_for(tmp_path: Path) -> None:
    assert scopes_of(tmp_path, 0.0, failing()) == [NO_SCOPE]


def test_no_scope_begins_that_does_not_fit_into_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers look at the same time whether one is due, and a long one takes what others would have had."""
    due: list[bool] = []

    def look(lab: MeteredLab, *arguments: Any, **more: Any) -> None:
        due.append(scopes.is_due(0.1))
        lab.run(fakes.CASE, ())

    monkeypatch.setattr("fuzzer.campaign.triage.scopes.look_closer", look)
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, failing(), cases(1)).run()
        (doc,) = store.findings.values()
        lab = LabOfTriage(PausableLab(CostlyExecutor(), PauseSwitch(), lambda: False), store.triaged)
        scopes = Scopes(store, lab, wanted=True)
        for spent in (99.0, 2.0, 0.0, 100.0):
            store.triaged(Result({}, cpu_seconds=spent))
            scopes.add(doc)
            due.append(scopes.is_due(0.1))
            if due[-1]:
                scopes.work()
        assert due == [False, True, False, False, True, False]


@pytest.mark.slow
def test_what_the_scope_costs_counts_as_triage(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path), triage=TriageLimits(scopes=0.25))
        Campaign(limits, store, failing(), cases(2)).run()
        (doc,) = store.findings.values()
        scope = finding_file.read(store.crashes / doc.slug).scope
        assert store.state.counters.triage_cpu_seconds >= scope.cpu_seconds > 0


def test_a_finding_that_cannot_be_read_does_not_end_the_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.system.terminal.MOST_CHARACTERS", 2000)  # the path of the folder may be long
    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path), triage=TriageLimits(scopes=0.25))
        campaign = Campaign(limits, store, failing(), cases(2))
        campaign.triage.new = Damaging(store)
        campaign.run()
    assert "its scope is not looked for: " in capsys.readouterr().err


def test_an_error_of_difftvm_costs_one_scope_and_not_the_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("no such row")

    monkeypatch.setattr("fuzzer.campaign.triage.scopes.look_closer", fail)
    assert scopes_of(tmp_path, 0.25, failing()) == [NO_SCOPE]
    assert "difftvm itself failed while it looked for the scope ('no such row')" in capsys.readouterr().err
    (kept,) = (tmp_path / "errors").iterdir()
    (folder,) = (tmp_path / "crashes").iterdir()
    assert kept.name == f"scope-{folder.name}"
    assert "KeyError: 'no such row'" in (kept / "error.txt").read_text()


@pytest.mark.slow
def test_a_disk_that_fails_once_loses_no_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = iter([OSError(errno.EIO, "it cannot be written")])

    def look(*arguments: Any, **more: Any) -> None:
        for error in errors:
            raise error
        closer_look.look_closer(*arguments, **more)

    monkeypatch.setattr("fuzzer.campaign.run.loop.SAVE_SECONDS", 0.05)
    monkeypatch.setattr("fuzzer.campaign.triage.scopes.look_closer", look)
    (scope,) = scopes_of(tmp_path, 0.25, failing())
    assert scope.variations


def test_a_campaign_that_stops_saves_no_half_of_a_scope(tmp_path: Path) -> None:
    class Stopped(CostlyExecutor):
        def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
            if list(tmp_path.glob("crashes/[!.]*/finding.json")):
                raise Stopping
            return super().run(case, lanes)

        run_fresh = run

    assert scopes_of(tmp_path, 0.25, failing(Stopped)) == [NO_SCOPE]


def test_in_a_run_of_minutes_scopes_wait_for_the_end_of_the_tests(tmp_path: Path) -> None:
    """A worker that has nothing else to do than a scope goes on with tests."""
    with Store(tmp_path, 1) as store:
        limits = replace(settings(tmp_path), triage=TriageLimits(scopes=1.0))
        task = Campaign(limits, store, failing(), cases(2))
        task.triage._scopes._left.add("wrong-value-x")
        task.triage._scopes._scores["wrong-value-x"] = 1.0
        assert task.triage.work(scopes=0.0) is False
        assert task.triage._scopes._left == {"wrong-value-x"}


@pytest.mark.parametrize(("seconds", "scopes_while_others_wait"), [(60.0, True), (None, False)])
def test_after_the_tests_of_a_run_of_minutes_scopes_do_not_wait_for_all_sightings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float | None, scopes_while_others_wait: bool
) -> None:
    left: list[int] = []

    def look(*_: object, **__: object) -> None:
        left.append(task.triage.queue.left)

    monkeypatch.setattr("fuzzer.campaign.triage.scopes.look_closer", look)
    with Store(tmp_path, 1) as store:
        limits = RunLimits(seconds=seconds, clock=lambda: 0.0)
        triage = TriageLimits(share=0.0, scopes=0.1)
        sins = {f"number {number}": refused(number) for number in range(5)}
        task = Campaign(replace(settings(tmp_path), run=limits, triage=triage), store, CostlyExecutor(sins), cases(5))
        task.run()
    assert len(left) == 5
    assert (left[0] > 0) is scopes_while_others_wait
