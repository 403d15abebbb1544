"""A lane is measured again before it is called slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from labs import FakeLab

from fuzzer.triage.reproduce import settled
from generators.graph import Case
from oracles.finding import Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec, Pipeline
from oracles.outcome import Facts, Outcome


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
def test_a_lane_is_slow_where_the_least_of_three_measurements_is(
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
    result = settled(lab.run, fakes.CASE, first)
    findings = judge_all(fakes.CASE, result.outcomes)
    assert [(finding.kind, finding.lane) for finding in findings] == [(Kind.SLOW, lane) for lane in slow]
    assert [lanes for _, lanes in lab.ran] == [(fakes.TVM, other)] * (1 + runs_again)
    assert result.cpu_seconds == 1 + runs_again
