"""Which runs of a campaign's lab count as triage, and as tests."""

from __future__ import annotations

import fakes
from labs import FakeLab

from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, PausableLab
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun, Tool
from oracles.lane import LaneSpec


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
