"""What a test runs again before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
from labs import FakeLab

from fuzzer.campaign.test.judging import judged
from generators.graph import Case
from oracles.lane import LaneSpec, Params
from oracles.outcome import Outcome, Result, Stage

CUDA = replace(fakes.TVM, name="relax-export-cuda", target="cuda", params=Params.BOUND)


def test_a_lane_that_a_test_runs_again_is_a_cost_of_the_test() -> None:
    def wrong(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return fakes.raised(Stage.COMPILE) if lane == CUDA else None

    lab = FakeLab(wrong)
    first = lab.run(fakes.CASE, (fakes.TORCH, fakes.TORCH_F64, fakes.TORCH_ENVELOPE, CUDA))
    result, findings = judged(lab.run_fresh, fakes.CASE, first)
    assert ([finding.lane for finding in findings], len(lab.fresh)) == ([CUDA], 1)
    assert result == Result(first.outcomes, {}, 2.0)
