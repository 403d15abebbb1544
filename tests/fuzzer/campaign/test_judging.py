"""What a test runs again before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from labs import FakeLab

from fuzzer.campaign.test.judging import judged
from generators.graph import Case
from oracles.finding import Kind
from oracles.lane import LaneSpec, Params, Pipeline
from oracles.outcome import Facts, Outcome, Result, Stage

CUDA = replace(fakes.TVM, name="relax-export-cuda", target="cuda", params=Params.BOUND)


def test_a_lane_that_a_test_runs_again_is_a_cost_of_the_test() -> None:
    def wrong(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return fakes.raised(Stage.COMPILE) if lane == CUDA else None

    lab = FakeLab(wrong)
    first = lab.run(fakes.CASE, (fakes.TORCH, fakes.TORCH_F64, fakes.TORCH_ENVELOPE, CUDA))
    result, findings = judged(lab.run_fresh, fakes.CASE, first)
    assert ([finding.lane for finding in findings], len(lab.fresh)) == ([CUDA], 1)
    assert result == Result(first.outcomes, {}, 2.0)


@pytest.mark.parametrize(
    ("of_tvm", "of_other", "runs_again", "slow"),
    [
        ([9.0, 9.0, 9.0], [0.1, 0.1, 0.1], 2, [fakes.TVM]),
        ([9.0, 0.1], [0.1, 0.1], 1, []),
        ([9.0, 9.0, 0.1], [0.1, 0.1, 0.1], 2, []),
        ([9.0, 0.1], [0.1, 9.0], 1, []),
    ],
    ids=["always", "once", "twice", "another-lane"],
)
def test_a_lane_is_slow_where_it_is_slow_in_three_runs(
    of_tvm: list[float], of_other: list[float], runs_again: int, slow: list[LaneSpec]
) -> None:
    other = replace(fakes.TVM, name="other", pipeline=Pipeline.ZERO)
    seconds = {fakes.TVM: iter(of_tvm), other: iter(of_other)}

    def compiled(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        if lane not in seconds:
            return None
        return replace(
            fakes.correct((fakes.expect([1.0, -2.0]),)),
            facts=Facts(compile_seconds=next(seconds[lane]), kernels=1, passes=80),
        )

    lab = FakeLab(compiled)
    first = lab.run(fakes.CASE, (fakes.TORCH, fakes.TORCH_F64, fakes.TORCH_ENVELOPE, fakes.TVM, other))
    _, findings = judged(lab.run_fresh, fakes.CASE, first)
    assert [(finding.kind, finding.lane) for finding in findings] == [(Kind.SLOW, lane) for lane in slow]
    assert [lab.ran[place][1] for place in lab.fresh] == [(fakes.TVM, other)] * runs_again
