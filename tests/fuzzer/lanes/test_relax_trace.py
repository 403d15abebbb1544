"""Traced lanes: the passes and functions that they record, the passes that they skip, and right results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs_by_hand import Call, case_of
from small_models import CASES, outcome_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import SAMPLED_LANES, TVM_LANES, needed, select
from generators.graph import Case
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Ran
from oracles.trace import (
    AS_IMPORTED,
    CALL_BUILT_KERNELS,
    INTERPRET_KERNELS,
    INTERPRET_OPERATORS,
    Correctness,
    Trace,
    Tracing,
)

pytestmark = pytest.mark.tvm

LLVM, ONNX, C = TVM_LANES
(ZERO,) = select("relax-export-zero")
(CPU,) = select("relax-export-cpu")
(ASSERTS,) = select("relax-export-asserts")
CALLS: list[Call] = [("v0", "relu", "x0"), ("v1", "flip", "v0", {"dims": (0,)}), ("v2", "softmax", "v1", {"dim": 1})]
CHAIN = case_of({"x0": "float32[2,3]"}, CALLS, "v2")
MANY_CALLS: list[Call] = [
    ("v0", "matmul", "x0 x1"),
    ("v1", "cumsum", "v0", {"dim": 1}),
    ("v2", "softmax", "v1", {"dim": 1}),
    ("v3", "argmax", "x0"),
    ("v4", "mean", "x0"),
]
MANY = case_of({"x0": "float32[3,3]", "x1": "float32[3,3]"}, MANY_CALLS, "v1 v2 v3 v4")
HALF = case_of({"x0": "bfloat16[4]"}, [("v0", "add", "x0 x0")], "v0")


def traced(executor: Executor, case: Case, lane: LaneSpec, tracing: Tracing) -> tuple[Ran, Trace]:
    outcome = outcome_of(executor, case, replace(lane, tracing=tracing))
    assert isinstance(outcome, Ran), outcome
    assert outcome.facts.trace is not None
    return outcome, outcome.facts.trace


@pytest.mark.parametrize("lane", [ASSERTS, C, ZERO, CPU], ids=lambda lane: lane.name)
@pytest.mark.parametrize("case", [CASES["conv"], MANY, HALF], ids=["conv", "many", "half"])
def test_results_are_right_without_all_optional_passes(executor: Executor, case: Case, lane: LaneSpec) -> None:
    """What fuzzer/lanes/relax/needed_passes.py says."""
    without = replace(lane, tracing=Tracing(limit=0))
    result = executor.run(case, (*needed(without), without))
    assert [finding for finding in judge_all(case, result.outcomes) if finding.lane == without] == []
    trace = result.outcomes[without].facts.trace
    assert trace is not None
    assert {each.ran for each in trace.passes if each.optional} == {False}
    assert {each.ran for each in trace.passes if not each.optional} == {True}
    assert sum(each.optional for each in trace.passes) >= 25


def test_the_lines_and_operators_of_a_case_are_recorded(executor: Executor) -> None:
    _, trace = traced(executor, CHAIN, LLVM, Tracing())
    assert trace.calls == ("relax.nn.relu", "relax.flip", "relax.nn.softmax")
    functions = {line.partition("+")[0].rpartition(".")[2] for line in trace.lines}
    assert {"_flip", "_softmax"} <= functions  # the converters, and the kernel of softmax
    assert not functions & {"from_exported_program", "create_convert_map"}


def test_the_lines_of_one_converter_tell_its_branches_apart(executor: Executor) -> None:
    number = case_of({"x0": "float32[2]"}, [("v0", "mul_scalar", "x0", {"other": 2.0})], "v0")
    tensor = case_of({"x0": "float32[2]"}, [("v0", "mul", "x0 x0")], "v0")
    one, other = (set(traced(executor, case, LLVM, Tracing())[1].lines) for case in (number, tensor))
    assert one & other
    assert one - other
    assert other - one


def test_passes_converters_and_legalizations_are_recorded(executor: Executor) -> None:
    ran, trace = traced(executor, CHAIN, LLVM, Tracing())
    np.testing.assert_array_equal(ran.outputs[0], outcome_of(executor, CHAIN, LLVM).outputs[0])
    assert [what for what, _ in trace.converters] == ["relu.default", "flip.default", "_softmax.default"]
    assert [function for _, function in trace.converters][1:] == [
        "BaseFXGraphImporter._flip",
        "BaseFXGraphImporter._softmax",
    ]
    assert [what for what, _ in trace.legalizations] == ["relax.nn.relu", "relax.flip", "relax.nn.softmax"]
    assert (trace.types, trace.left, trace.under_way) == (("float32[2, 3]",), (), ())
    changed = [each.name for each in trace.passes if each.changed]
    assert changed[0] == "LegalizeOps"
    assert "RewriteDataflowReshape" not in changed
    assert "FuseTIRInner" not in [each.name for each in traced(executor, CHAIN, ZERO, Tracing())[1].passes]


def test_the_first_converter_that_returns_another_type_than_pytorch_is_recorded(executor: Executor) -> None:
    """TVM 0.27: whatever is multiplied, float32 comes out; what is made of it then is wrong without a fault."""
    assert traced(executor, CHAIN, LLVM, Tracing())[1].mistyped is None
    calls: list[Call] = [("v0", "neg", "x0"), ("v1", "matmul", "v0 x1"), ("v2", "abs", "v1"), ("v3", "squeeze", "v2")]
    case = case_of({"x0": "int64[2,3]", "x1": "int64[3,1]"}, calls, "v3")
    mistyped = traced(executor, case, LLVM, Tracing())[1].mistyped
    assert mistyped is not None
    assert mistyped.by[0] == "mm.default"
    assert (mistyped.made, mistyped.right) == ("float32[2, 1]", "int64[2, 1]")


def test_both_results_of_a_converter_are_compared_with_pytorchs_types(executor: Executor) -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0 v1", "max_dim", "x0", {"dim": 1})], "v0")
    assert traced(executor, case, LLVM, Tracing())[1].mistyped is None


def test_onnx_converters_are_recorded_too(executor: Executor) -> None:
    converters = traced(executor, CHAIN, ONNX, Tracing())[1].converters
    assert converters[0][0] == "Relu"
    assert converters[-1][1].startswith("Softmax._impl_v")


def test_the_program_before_and_after_a_pass_is_recorded(executor: Executor) -> None:
    _, whole = traced(executor, CHAIN, LLVM, Tracing())
    place = [each.name for each in whole.passes].index("LegalizeOps")
    _, trace = traced(executor, CHAIN, LLVM, Tracing(show=place))
    assert "R.flip(lv, axis=0)" in trace.before
    assert "R.flip" not in trace.after
    assert "def flip(" in trace.after
    assert traced(executor, CHAIN, LLVM, Tracing(show=place))[1].after == trace.after
    assert traced(executor, CHAIN, LLVM, Tracing(show=AS_IMPORTED))[1].after == trace.before


@pytest.mark.parametrize("variant", [INTERPRET_OPERATORS, INTERPRET_KERNELS, CALL_BUILT_KERNELS])
@pytest.mark.parametrize("case", [*CASES.values(), MANY, CHAIN], ids=[*CASES, "many", "chain"])
def test_modules_are_right_operator_by_operator(executor: Executor, case: Case, variant: str) -> None:
    """In PyTorch, by their kernels as these are written, and as they are built."""
    lane = replace(LLVM, name=f"relax-export-{variant}", variant=variant, checked=False)
    result = executor.run(case, (*needed(lane), lane))
    outcome = result.outcomes[lane]
    assert isinstance(outcome, Ran), outcome
    assert [finding for finding in judge_all(case, result.outcomes) if finding.lane == lane] == []
    assert outcome.facts.trace is not None
    examined = outcome.facts.trace.examined
    assert examined
    assert {each.built for each in examined} == {Correctness.RIGHT}
    assert {each.interpreted for each in examined} == {Correctness.RIGHT}


def test_a_read_out_of_bounds_is_recorded(executor: Executor) -> None:
    """TVM 0.27 imports a negative index of select as it is, and reads outside."""
    case = case_of({"x0": "float32[2,3]"}, [("v0", "select", "x0", {"dim": 0, "index": -2})], "v0")
    lane = replace(LLVM, name="relax-export-interpreted", variant=INTERPRET_OPERATORS, checked=False)
    trace = outcome_of(executor, case, lane).facts.trace
    assert trace is not None
    assert trace.outside == "take asks for elements that are not there"


def test_no_lane_of_a_campaign_is_traced() -> None:
    assert {lane.tracing for lane in (*TVM_LANES, *SAMPLED_LANES)} == {None}
