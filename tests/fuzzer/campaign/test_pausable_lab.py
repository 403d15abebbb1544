"""Which runs of a campaign's lab count as triage."""

from __future__ import annotations

import fakes
from labs import FakeLab

from fuzzer.campaign.gate import Gate
from fuzzer.campaign.pausable_lab import PausableLab
from oracles.outcome import Result


def test_runs_of_triage_count_once_in_used_children_and_in_fresh_ones() -> None:
    counted: list[Result] = []
    lab = PausableLab(FakeLab(lambda case, lane, lanes: None), Gate(), lambda: False, counted.append)
    lab.run(fakes.CASE, (fakes.TORCH,))
    assert counted == []
    lab.of_triage.run(fakes.CASE, (fakes.TORCH,))
    lab.of_triage.run_fresh(fakes.CASE, (fakes.TORCH,))
    lab.run_fresh(fakes.CASE, (fakes.TORCH,))
    assert len(counted) == 3
