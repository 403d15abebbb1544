"""Which runs of a campaign's lab count as triage, and as tests."""

from __future__ import annotations

from collections.abc import Sequence

import fakes
import pytest
from labs import FakeLab

from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, PausableLab, Stopping
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.isolate.child_process import GaveUp
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun, Tool
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result


class ImpatientLab(FakeLab):
    """Each run is given up while it is under way."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        raise GaveUp

    run_fresh = run

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        raise GaveUp


def test_a_run_that_is_given_up_was_stopped() -> None:
    lab = PausableLab(ImpatientLab(lambda case, lane, lanes: None), PauseSwitch(), lambda: False)
    for run in (lab.run, lab.run_fresh):
        with pytest.raises(Stopping):
            run(fakes.CASE, (fakes.TORCH,))
    with pytest.raises(Stopping):
        lab.run_script("", fakes.TVM)


class CostlyLab(FakeLab):
    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(SHOWS, cpu_seconds=2.0)


def test_every_run_of_triage_counts_once() -> None:
    costs: list[float] = []
    reports = (SanitizerReport(Tool.MEMCHECK, 0, cpu_seconds=3.0), SanitizerReport(Tool.INITCHECK, 0, cpu_seconds=4.0))
    lab = PausableLab(CostlyLab(lambda case, lane, lanes: None, reports=reports), PauseSwitch(), lambda: False)
    lab.run(fakes.CASE, (fakes.TORCH,))
    lab.run_fresh(fakes.CASE, (fakes.TORCH,))
    of_triage = LabOfTriage(lab, lambda result: costs.append(result.cpu_seconds))
    of_triage.run(fakes.CASE, (fakes.TORCH,))
    of_triage.run_fresh(fakes.CASE, (fakes.TORCH,))
    assert of_triage.run_script("", fakes.TVM).shows
    assert of_triage.examine(fakes.CASE, fakes.TVM) == reports
    assert costs == [1.0, 1.0, 2.0, 7.0]
