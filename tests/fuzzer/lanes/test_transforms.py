"""Each row of the table of transforms on real models, alone with the passes that it requires."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from small_models import CASES

from fuzzer.campaign.plan.drawn_lanes import ordered
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import REFERENCES, TVM_LANES
from fuzzer.triage.reproduce import judged_run
from generators.choice import NumpySource
from oracles.finding import Component
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Ran, facts_of
from oracles.passes_without_a_row import PASSES_WITHOUT_A_ROW
from oracles.transforms import TRANSFORMS, TRANSFORMS_BY_NAME, ModuleForm

pytestmark = pytest.mark.tvm

PLAIN = TVM_LANES[0]


def lane_of(name: str) -> LaneSpec:
    passes = ordered(NumpySource(0), [TRANSFORMS_BY_NAME[name]])
    return replace(PLAIN, name=f"with {name}", passes=passes, target="llvm-O0")


@pytest.mark.parametrize("case", CASES)
def test_each_transform_alone_keeps_pytorchs_results(executor: Executor, case: str) -> None:
    lanes = [lane_of(row.name) for row in TRANSFORMS]
    outcomes = judged_run(executor.run, CASES[case], (*REFERENCES, PLAIN, *lanes)).outcomes
    assert {lane.name: outcomes[lane] for lane in lanes if not isinstance(outcomes[lane], Ran)} == {}
    assert [finding for finding in judge_all(CASES[case], outcomes) if finding.component is Component.TVM] == []


@pytest.mark.parametrize("name", ["FoldConstant", "FuseTIR", "ConvertLayout-NHWC", "ScriptRoundTrip"])
def test_the_module_is_checked_after_each_transform(executor: Executor, name: str) -> None:
    lane = lane_of(name)
    assert name.partition("-")[0] in facts_of(executor.run(CASES["conv"], (lane,)).outcomes[lane]).checked


def test_each_pass_of_tvm_is_a_row_or_has_a_reason() -> None:
    from tvm.relax import transform

    public = {name for name in dir(transform) if not name.startswith("_")}
    passes = {name for name in public if not inspect.ismodule(getattr(transform, name))}
    rows = {name for name in passes if any(f"transform.{name}(" in row.source for row in TRANSFORMS)}
    assert sorted(passes - rows) == sorted(PASSES_WITHOUT_A_ROW)


@pytest.mark.parametrize("case", CASES)
def test_passes_that_lower_follow_each_other_in_every_order_and_may_be_left_out(executor: Executor, case: str) -> None:
    lower = [row for row in TRANSFORMS if row.form is ModuleForm.LOWERED]
    assert len(lower) == 8
    orders = [ordered(NumpySource(seed), NumpySource(seed).shuffled(lower)) for seed in range(6)]
    without = [tuple(name for place, name in enumerate(order) if place % 3 or not place) for order in orders]
    orders += without  # the reducer leaves out any of them
    assert len(set(orders)) == 12
    lanes = [
        replace(PLAIN, name=f"order {number}", passes=passes, target="llvm-O0") for number, passes in enumerate(orders)
    ]
    outcomes = judged_run(executor.run, CASES[case], (*REFERENCES, PLAIN, *lanes)).outcomes
    assert {lane.name: outcomes[lane] for lane in lanes if not isinstance(outcomes[lane], Ran)} == {}
    assert [finding for finding in judge_all(CASES[case], outcomes) if finding.component is Component.TVM] == []
