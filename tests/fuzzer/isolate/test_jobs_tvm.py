"""What a child does with a job beyond running its lanes: it ends a lane early, keeps a case, and names a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import fakes
import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.isolate.executor import Executor, same_case
from fuzzer.lanes import EVERY_TVM_LANE, TORCH
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Built, Raised, Ran, Stage, WrongOperand, facts_of

pytestmark = [pytest.mark.tvm, pytest.mark.slow]

LANES: Mapping[str, LaneSpec] = {lane.name: lane for lane in EVERY_TVM_LANE}
EXPORT, ONNX = LANES["relax-export-llvm"], LANES["relax-onnx-llvm"]
RIGHT = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")
REFUSED = case_of({"x0": "int64[2]"}, [("v0", "neg", "x0"), ("v1", "tanh", "v0"), ("v2", "relu", "v1")], "v2")


@pytest.fixture(autouse=True)
def _no_child_waits(executor: Executor) -> None:
    """No child of an earlier test waits for a case, so that one child runs the cases of a test."""
    while executor._idle:
        executor._idle.pop().close()


@pytest.mark.parametrize("lane", [EXPORT, ONNX], ids=str)
@pytest.mark.parametrize("until", [Stage.EXPORT, Stage.IMPORT, Stage.COMPILE])
def test_a_lane_ends_after_its_last_stage(executor: Executor, lane: LaneSpec, until: Stage) -> None:
    short = replace(lane, until=until)
    result = executor.run(RIGHT, (TORCH, short, lane))
    assert isinstance(result.outcomes[short], Built)
    assert isinstance(result.outcomes[lane], Ran), "what it shares with a lane that ended early is not damaged"
    alone = executor.run_fresh(RIGHT, (short,)).stage_cpu
    assert not [stage for stage in alone if stage.is_after(until)]


def test_a_failure_before_the_last_stage_shows(executor: Executor) -> None:
    short = replace(EXPORT, until=Stage.IMPORT)
    outcome = executor.run(REFUSED, (short,)).outcomes[short]
    assert isinstance(outcome, Raised)
    assert outcome.stage is Stage.IMPORT


def test_an_exception_of_an_importer_names_the_node(executor: Executor) -> None:
    for lane in (EXPORT, LANES["relax-export-raw-llvm"]):
        assert facts_of(executor.run(REFUSED, (lane,)).outcomes[lane]).pointed == "v1"


def test_an_operand_of_a_wrong_dtype_is_named_where_it_was_made(executor: Executor) -> None:
    """TVM divides integers as integers. The exponential function refuses the result, and it is not at fault."""
    nodes = [("v0", "div", "x0 x0"), ("v1", "flatten", "v0"), ("v2", "elu", "v1")]
    case = case_of({"x0": "int64[2]"}, nodes, "v2")
    facts = facts_of(executor.run(case, (EXPORT,)).outcomes[EXPORT])
    assert (facts.pointed, facts.wrong_operand) == ("v2", WrongOperand("v0", of_dtype=True))
    assert facts_of(executor.run(REFUSED, (EXPORT,)).outcomes[EXPORT]).wrong_operand is None


def test_an_operand_of_a_wrong_dtype_is_named_in_a_file_too(executor: Executor) -> None:
    """TVM clips float16 in float32."""
    clip: Call = ("v1", "Clip-6", "v0", {"min": -8.0, "max": 8.0})
    nodes: list[Call] = [("v0", "Abs-6", "x0"), clip, ("v2", "Add-7", "v1 x0")]
    model = LANES["relax-onnx-model-llvm"]
    outcomes = executor.run(case_of({"x0": "float16[2]"}, nodes, "v2", opset=10), (model,)).outcomes
    assert facts_of(outcomes[model]).wrong_operand == WrongOperand("v1", of_dtype=True)


def test_an_outcome_without_a_node_names_none(executor: Executor) -> None:
    assert facts_of(executor.run(RIGHT, (EXPORT,)).outcomes[EXPORT]).pointed == ""


def exported(executor: Executor, case: Case) -> bool:
    """Whether the case is exported for the lane, and not before."""
    result = executor.run(case, (EXPORT,))
    assert isinstance(result.outcomes[EXPORT], Ran)
    return result.stage_cpu.get(Stage.EXPORT, 0.0) > 0.005


def with_numbers(case: Case, *numbers: float) -> Case:
    return replace(case, tensors={name: np.array(numbers, array.dtype) for name, array in case.tensors.items()})


def test_one_export_serves_the_next_job_of_the_same_case_or_of_other_numbers(executor: Executor) -> None:
    one, other = with_numbers(RIGHT, 1, 2), with_numbers(RIGHT, -3, -4)
    deeper = case_of({"x0": "float32[2]"}, [("v0", "abs", "x0"), ("v1", "relu", "v0")], "v1")
    executor.run(deeper, (TORCH,))
    assert [exported(executor, case) for case in (one, one, other, deeper)] == [True, False, False, True]
    outcome = executor.run(other, (EXPORT,)).outcomes[EXPORT]
    assert isinstance(outcome, Ran)
    assert outcome.outputs[0].tolist() == [3, 4]


def test_parameters_are_part_of_the_export(executor: Executor) -> None:
    model = case_of({"x0": "float32[2]", "w0": "float32[2]"}, [("v0", "mul", "x0 w0")], "v0")
    one, other = with_numbers(model, 1, 2), with_numbers(model, 3, 4)
    outcomes = [executor.run(case, (EXPORT,)).outcomes[EXPORT] for case in (one, other)]
    assert [out.outputs[0].tolist() for out in outcomes if isinstance(out, Ran)] == [[1, 4], [9, 16]]


def test_a_child_that_ran_the_case_last_is_taken_first(executor: Executor) -> None:
    one, other = executor._used_child(RIGHT), executor._used_child(RIGHT)
    one.last, other.last = RIGHT, REFUSED
    executor._idle[:] = [one, other]
    assert executor._used_child(replace(RIGHT, origin="elsewhere")) is one
    executor._idle[:] = [one, other]
    assert executor._used_child(fakes.CASE) is one, "it has been idle for longer"
    for child in (one, other):
        child.close()
    executor._idle.clear()


def test_cases_are_the_same_but_for_their_origin() -> None:
    assert same_case(RIGHT, replace(with_numbers(RIGHT, *RIGHT.tensors["x0"].tolist()), origin="elsewhere"))
    assert not same_case(RIGHT, with_numbers(RIGHT, 7, 8))
    assert not same_case(RIGHT, REFUSED)
