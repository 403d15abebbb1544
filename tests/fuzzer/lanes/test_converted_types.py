"""Traced lanes: the first value that TVM's importers give another type than the model has for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_by_hand import Call, case_of
from small_models import outcome_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import MODEL_LANES, TVM_LANES, select
from fuzzer.triage.scope.open_sizes import opened
from generators.graph import Attrs, Case
from oracles.lane import LaneSpec
from oracles.outcome import Stage, facts_of
from oracles.trace import MistypedOperator, Trace, Tracing

pytestmark = pytest.mark.tvm

(SYMBOLIC,) = select("relax-onnx-model-symbolic", "onnx")


def traced(executor: Executor, case: Case, lane: LaneSpec) -> Trace:
    found = facts_of(outcome_of(executor, case, replace(lane, tracing=Tracing(), until=Stage.IMPORT))).trace
    assert found is not None
    return found


def relu(result: str, operand: str) -> Call:
    return result, "Relu-14", operand


SAME_LOWER: Attrs = {"kernel_shape": (1, 1), "strides": (2, 2), "auto_pad": "SAME_LOWER", "outputs": (True, False)}
POOL: Call = ("v1", "MaxPool-12", "v0", SAME_LOWER)
INSERT: Call = ("v0", "SequenceInsert-11", "x1 x0", {"I": "int64", "at": 0, "position": -1})
DROPOUT: Call = ("v0 v1", "Dropout-13", "x0", {"outputs": (True, True)})
IN_BRANCHES: Call = ("v1", "MaxPool-12:branch", "v0", SAME_LOWER)
VECTOR = {"x0": "float32[2]"}
IMAGE = {"x0": "float32[1,1,7,7]"}
POOLED = ("MaxPool", "Pool._impl_v1"), "float32[1, 1, 3, 3]", "float32[1, 1, 4, 4]", "v1"


@pytest.mark.parametrize(
    ("case", "mistyped"),
    [
        (case_of(IMAGE, [relu("v0", "x0"), POOL, relu("v2", "v1")], "v2", opset=17), MistypedOperator(*POOLED)),
        (case_of(IMAGE, [relu("v0", "x0"), IN_BRANCHES, relu("v2", "v1")], "v2", opset=17), MistypedOperator(*POOLED)),
        (
            case_of({"x0": "float32[1]", "x1": "float32[1,1]"}, [INSERT, relu("v1", "v0")], "v1", opset=17),
            MistypedOperator(("SequenceInsert", "SequenceInsert._impl_v11"), "float32[1]", "float32[1, 1]", "v0"),
        ),
        (
            case_of(VECTOR, [DROPOUT], "v0 v1", opset=17),
            MistypedOperator(("Dropout", "Dropout._impl_v12"), "float32[2]", "bool[2]", "v1"),
        ),
        (case_of(VECTOR, [DROPOUT], "v0", opset=17), None),
        (case_of(IMAGE, [relu("v0", "x0"), relu("v1", "v0")], "v1", opset=17), None),
    ],
    ids=[
        "a node",
        "nodes in both branches of an If",
        "several nodes in a row",
        "a result",
        "nothing reads it",
        "right",
    ],
)
def test_a_file_of_onnx(executor: Executor, case: Case, mistyped: MistypedOperator | None) -> None:
    """TVM 0.27: SAME_LOWER loses a row and a column, SequenceInsert takes its operands for one, masks are floats."""
    assert traced(executor, case, MODEL_LANES[0]).mistyped == mistyped


def test_a_type_with_unknown_sizes_is_no_other_type(executor: Executor) -> None:
    case = case_of(VECTOR, [DROPOUT], "v0 v1", opset=17)
    open_size = opened(case, {("x0", 0)})
    assert open_size is not None
    assert traced(executor, open_size, SYMBOLIC).mistyped is None


def test_a_result_in_a_program_that_nothing_reads_is_not_compared(executor: Executor) -> None:
    """TVM 0.27 gives the indices of max_pool2d_with_indices as floats. max_pool2d reads the other result."""
    case = case_of({"x0": "float32[1,1,4,4]"}, [("v0", "max_pool2d", "x0", {"kernel_size": (2, 2)})], "v0")
    trace = traced(executor, case, TVM_LANES[0])
    assert "max_pool2d_with_indices.default" in dict(trace.converters)
    assert trace.mistyped is None


def test_the_value_of_the_case_is_known_that_a_program_computes(executor: Executor) -> None:
    calls: list[Call] = [("v0", "neg", "x0"), ("v1", "matmul", "v0 x1"), ("v2", "abs", "v1")]
    case = case_of({"x0": "int64[2,3]", "x1": "int64[3,1]"}, calls, "v2")
    mistyped = traced(executor, case, TVM_LANES[0]).mistyped
    assert mistyped is not None
    assert (mistyped.by[0], mistyped.value) == ("mm.default", "v1")
