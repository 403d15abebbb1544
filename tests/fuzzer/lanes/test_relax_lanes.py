"""Lanes with lifted parameters, symbolic sizes and gradients, and the cases that they skip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs_by_hand import Call, case_of
from small_models import CASES, LINEAR, outcome_of, small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import GRADIENT_REFERENCES, REFERENCES, SAMPLED_LANES, TVM_LANES, needed, select
from generators.check import check
from generators.graph import Case, Graph, Input, Node, Symbol, TensorType, Value
from generators.table import TABLE
from oracles.judge import judge_all
from oracles.outcome import Ran, Skipped, Stage, Unsupported

pytestmark = pytest.mark.tvm

NAMED = {lane.name.removeprefix("relax-export-"): lane for lane in SAMPLED_LANES}
GRAD, F64, ENVELOPE = GRADIENT_REFERENCES


def symbolic(inputs: dict[str, str], op: str, result: str, size: int, *also: int) -> Case:
    """One call on all inputs, at `n` = size."""
    items = tuple(Input(Value(name, TensorType.parse(text))) for name, text in inputs.items())
    node = Node(op, tuple(inputs), TABLE[op].defaults, (Value("v0", TensorType.parse(result)),))
    graph = Graph(items, (node,), ("v0",), symbols=(Symbol("n", 1, 7),))
    bound = graph.bind({"n": size})
    case = Case(
        graph, {item.value.name: small(item) for item in bound.inputs}, {"n": size}, tuple({"n": n} for n in also)
    )
    check(case)
    return case


def test_lifted_parameters_go_through_their_own_function_first(executor: Executor) -> None:
    """The founding case: (A + 1) * (B + 1), B a parameter. The new main on B itself would multiply by B."""
    calls: list[Call] = [
        ("v0", "add_scalar", "x0", {"other": 1}),
        ("v1", "add_scalar", "w0", {"other": 1}),
        ("v2", "mul", "v0 v1"),
    ]
    case = case_of({"x0": "float32[2,3]", "w0": "float32[2,3]"}, calls, "v2", small)
    outcome = outcome_of(executor, case, NAMED["lifted"])
    assert isinstance(outcome, Ran)
    np.testing.assert_allclose(outcome.outputs[0], (case.tensors["x0"] + 1) * (case.tensors["w0"] + 1), rtol=1e-6)
    assert "LiftTransformParams" in outcome.facts.checked
    assert outcome.facts.constant_bytes < case.tensors["w0"].nbytes


def test_unused_shared_and_integer_parameters_are_lifted_as_well(executor: Executor) -> None:
    case = case_of(
        {"x0": "float32[2,3]", "w0": "float32[3]", "w1": "float32[5]", "b0": "int64[3]"},
        [("v0", "add", "x0 w0"), ("v1", "mul", "v0 w0"), ("v2", "add", "v1 b0")],
        "v2 w0",
        small,
    )
    outcomes = executor.run(case, (*REFERENCES, NAMED["lifted"])).outcomes
    assert isinstance(outcomes[NAMED["lifted"]], Ran)
    assert [f for f in judge_all(case, outcomes) if f.lane == NAMED["lifted"]] == []


def test_cases_without_parameters_or_without_symbols_are_skipped(executor: Executor) -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")
    assert outcome_of(executor, case, NAMED["lifted"]) == Skipped("there are no parameters")
    assert outcome_of(executor, case, NAMED["symbolic"]) == Skipped("no size of the case is symbolic")
    integers = case_of({"x0": "int64[2,3]"}, [("v0", "neg", "x0")], "v0")
    assert isinstance(outcome_of(executor, integers, NAMED["gradient"]), Skipped)
    assert isinstance(outcome_of(executor, integers, GRAD), Skipped)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_module_for_all_sizes_runs_at_the_cases_own(executor: Executor, size: int) -> None:
    case = symbolic({"x0": "float32[n,3]", "x1": "float32[n,3]"}, "add", "float32[n,3]", size)
    outcome = outcome_of(executor, case, NAMED["symbolic"])
    assert isinstance(outcome, Ran), outcome
    np.testing.assert_array_equal(outcome.outputs[0], case.tensors["x0"] + case.tensors["x1"])


def test_formulas_of_sizes(executor: Executor) -> None:
    case = symbolic({"x0": "float32[n,2]", "x1": "float32[2,2*n+1]"}, "matmul", "float32[n,2*n+1]", 2, 1)
    outcome = outcome_of(executor, case, NAMED["symbolic"])
    assert isinstance(outcome, Ran), outcome
    np.testing.assert_allclose(outcome.outputs[0], case.tensors["x0"] @ case.tensors["x1"], rtol=1e-6)


@pytest.mark.parametrize("case", ["linear", "conv", "integers"])
def test_gradients_are_those_of_autograd(executor: Executor, case: str) -> None:
    lane = NAMED["gradient"]
    outcomes = executor.run(CASES[case], (*needed(lane), lane)).outcomes
    ran = outcomes[lane]
    if case == "conv":  # TVM has no gradient of squeeze, which the batch normalisation decomposes into
        assert isinstance(ran, Ran | Unsupported)
        return
    assert isinstance(ran, Ran), ran
    right = outcomes[GRAD]
    assert isinstance(right, Ran)
    assert len(ran.outputs) == len(right.outputs) == {"linear": 4, "integers": 2}[case]
    for ours, theirs in zip(ran.outputs, right.outputs, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert [finding for finding in judge_all(CASES[case], outcomes) if finding.lane == lane] == []


def test_an_operator_without_a_gradient_is_unsupported(executor: Executor) -> None:
    case = case_of({"x0": "float32[4]"}, [("v0", "sort_values", "x0", {"dim": 0})], "v0", small)
    outcome = outcome_of(executor, case, NAMED["gradient"])
    assert isinstance(outcome, Unsupported)
    assert outcome.stage is Stage.TRANSFORM


def test_references_of_gradients(executor: Executor) -> None:
    outcomes = executor.run(LINEAR, GRADIENT_REFERENCES).outcomes
    own, truth, envelope = (outcomes[lane] for lane in GRADIENT_REFERENCES)
    assert isinstance(own, Ran)
    assert isinstance(truth, Ran)
    assert isinstance(envelope, Ran)
    count = len(own.outputs)
    assert {array.dtype for array in truth.outputs} == {np.dtype(np.float64)}
    for array, right, spread in zip(own.outputs, truth.outputs, envelope.outputs[:count], strict=True):
        np.testing.assert_allclose(array, right, rtol=1e-5)
        assert np.all(spread < 1e-4 * (1 + np.abs(right)))
        assert np.any(spread > 0)
    assert all(array.dtype == np.bool_ and not array.any() for array in envelope.outputs[count:])


def test_lanes_by_name() -> None:
    assert {lane.name for lane in select("*")} < {lane.name for lane in select("relax-*")}
    assert [lane.name for lane in select("relax-export-script")] == ["relax-export-script"]


@pytest.mark.parametrize(("dtype", "runs"), [("float32", True), ("float64", False), ("float16", False)])
def test_mixed_precision_is_for_modules_of_float32(executor: Executor, dtype: str, runs: bool) -> None:
    """The documentation of ToMixedPrecision: "the pass assumes the input module to be fp32 only"."""
    case = case_of({"x0": f"{dtype}[2,3]", "x1": f"{dtype}[3,2]"}, [("v0", "matmul", "x0 x1")], "v0", small)
    mixed = replace(TVM_LANES[0], name="relax-export-mixed", passes=("ToMixedPrecision-float16",))
    outcome = outcome_of(executor, case, mixed)
    wanted = f"ToMixedPrecision is made for float32, not for {dtype}"
    assert isinstance(outcome, Ran) if runs else outcome == Skipped(wanted)
