"""Each row of the table of transforms on real models, alone with the passes that it requires."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_models import CASES

from fuzzer.campaign.drawn_lanes import ordered
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import REFERENCES, TVM_LANES
from generators.choice import NumpySource
from oracles.finding import Component
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Ran, facts_of
from oracles.transforms import TRANSFORMS, TRANSFORMS_BY_NAME

pytestmark = pytest.mark.tvm

PLAIN = TVM_LANES[0]


def lane_of(name: str) -> LaneSpec:
    passes = ordered(NumpySource(0), [TRANSFORMS_BY_NAME[name]])
    return replace(PLAIN, name=f"with {name}", passes=passes, target="llvm-O0")


@pytest.mark.parametrize("case", CASES)
def test_each_transform_alone_keeps_pytorchs_results(executor: Executor, case: str) -> None:
    lanes = [lane_of(row.name) for row in TRANSFORMS]
    outcomes = executor.run(CASES[case], (*REFERENCES, PLAIN, *lanes)).outcomes
    assert {lane.name: outcomes[lane] for lane in lanes if not isinstance(outcomes[lane], Ran)} == {}
    assert [finding for finding in judge_all(CASES[case], outcomes) if finding.component is Component.TVM] == []


@pytest.mark.parametrize("name", ["FoldConstant", "FuseTIR", "ConvertLayout-NHWC", "ScriptRoundTrip"])
def test_the_module_is_checked_after_each_transform(executor: Executor, name: str) -> None:
    lane = lane_of(name)
    assert name.partition("-")[0] in facts_of(executor.run(CASES["conv"], (lane,)).outcomes[lane]).checked
