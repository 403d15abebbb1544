"""Sightings of a cause that a finding confirms are counted for it, in samples, and are no provisional cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from campaigns_by_hand import FakeExecutor, cases, settings
from sightings_by_hand import FRAMES, chain, raised, waits

from fuzzer.campaign.plan.settings import TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.layout import WAITING
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.provisional import further_sightings, keys_of_finding, provisional_causes
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from oracles.finding import Component
from oracles.outcome import Frame, Outcome, Stage

INTRINSICS = ("acos", "asin", "atan", "cos", "sin", "tan", "erf", "exp", "log")


def unresolved(operator: str) -> Outcome:
    return fakes.raised(Stage.COMPILE, "tvm.error.InternalError", f"Unresolved call tirx.{operator}", *FRAMES)


def docs_in(folder: Path) -> list[FindingDoc]:
    return [doc for _, doc in finding_file.readable(finding_file.folders_in(folder))]


@pytest.mark.slow
def test_messages_that_differ_in_an_operator_are_one_finding_and_samples(tmp_path: Path) -> None:
    """The first is investigated, then the 4th and the 8th of those that follow."""
    sins = {f"number {number}": unresolved(operator) for number, operator in enumerate(INTRINSICS)}
    with Store(tmp_path, 1) as store:
        campaign = Campaign(settings(tmp_path), store, FakeExecutor(sins), cases(len(INTRINSICS)))
        campaign.run()
        assert len(campaign.triage.new) == 3
        assert sum(store.state.found.values()) == len(INTRINSICS)
        assert len(campaign.triage.queue) == campaign.triage.queue.causes == 0


@pytest.mark.slow
def test_a_check_that_other_converters_call_too_is_investigated_for_each(tmp_path: Path) -> None:
    """They are one provisional cause. Those of the converter of a finding are counted for it."""
    frames = {
        name: (Frame("/tvm/base_fx_graph_translator.py", 1, name), *FRAMES) for name in ("_add", "_clamp", "_sub")
    }
    names = ("_add", "_add", "_clamp", "_add", "_sub")
    sins: dict[str, Outcome] = {
        f"number {number}": fakes.raised(Stage.COMPILE, "TypeError", "two dtypes", *frames[name])
        for number, name in enumerate(names)
    }
    with Store(tmp_path, 1) as store:
        later = replace(settings(tmp_path), triage=TriageLimits(share=0.0))
        campaign = Campaign(later, store, FakeExecutor(sins), cases(len(names)))
        campaign.run()
        assert len(campaign.triage.new) == 3
        assert sorted(store.state.found.values()) == [1, 1, 3]


@pytest.mark.slow
def test_what_waits_is_counted_when_its_cause_is_confirmed(tmp_path: Path) -> None:
    """All wait until the tests end. One of them is left as a sample."""
    sins = {f"number {number}": unresolved(operator) for number, operator in enumerate(INTRINSICS[:5])}
    with Store(tmp_path, 1) as store:
        later = replace(settings(tmp_path), triage=TriageLimits(share=0.0))
        campaign = Campaign(later, store, FakeExecutor(sins), cases(5))
        campaign.run()
        assert (len(campaign.triage.new), sum(store.state.found.values())) == (2, 5)
        assert campaign.triage.done == 2
    assert docs_in(tmp_path / WAITING) == []


def test_a_confirmed_cause_is_provisional_no_more_and_comes_last(tmp_path: Path) -> None:
    sins = {"number 0": unresolved("acos")}
    with Store(tmp_path, 1) as store:
        Campaign(settings(tmp_path), store, FakeExecutor(sins), cases(1)).run()
        (finding,) = store.findings.values()
    waiting = [waits(chain(operator), raised(f"Unresolved call tirx.{operator}")) for operator in ("cos", "sin")]
    other = waits(chain("abs"), raised("no layout"))
    assert [cause.lead for cause in provisional_causes([*waiting, other], [finding])] == [other]
    assert further_sightings([*waiting, other], [finding]) == {finding.slug: waiting}
    queue = Queue(tmp_path / "other")
    queue.add(chain("cos"), raised("Unresolved call tirx.cos"), {})
    queue.confirm(keys_of_finding(finding))
    queue.add(chain("abs", "neg"), raised("no function", Component.EXPORTER), {})
    queue.add(chain("abs", "neg", "erf"), raised("no layout"), {})
    taken = [queue.take(), queue.take(), queue.take()]
    assert [item.calls for item in taken if item] == [3, 1, 2], "what the exporter is to blame for comes last"
