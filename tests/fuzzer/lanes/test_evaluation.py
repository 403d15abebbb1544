"""Lanes of tier 1: imported modules, checked and evaluated, and compiled nowhere."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from graphs_by_hand import Call, case_of
from small_models import CASES, outcome_of

from fuzzer.campaign.test.tier_one import ImportVerdict, evaluation_disagrees, verdicts
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVALUATED_LANES, TORCH, TORCH_LANES, plain_of
from fuzzer.lanes.evaluated.common import Contradiction, Unknown
from generators.graph import Case, TensorType
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Outcome, Ran, Stage, Unsupported
from oracles.trace import Trace

pytestmark = pytest.mark.tvm

EXPORT, ONNX = EVALUATED_LANES[:2]
REFUSED = {("conv", Importer.FX)}
COMPILING = {Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD}


@pytest.mark.parametrize("lane", [lane for lane in EVALUATED_LANES if lane.dialect == "torch"], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_the_values_are_those_of_pytorch_and_nothing_is_compiled(executor: Executor, name: str, lane: LaneSpec) -> None:
    result = executor.run(CASES[name], (TORCH, lane))
    right, outcome = result.outcomes[TORCH], result.outcomes[lane]
    assert isinstance(right, Ran)
    if (name, lane.importer) in REFUSED:
        assert isinstance(outcome, Unsupported)
        return
    if (name, lane.importer) == ("conv", Importer.EXPORT_RAW):
        assert isinstance(outcome, Built), "its batch norm is imported in training mode, which is not defined here"
        return
    assert isinstance(outcome, Ran)
    for one, other in zip(outcome.outputs, right.outputs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert outcome.facts.checked == ("import",)
    assert any(name.startswith("relax relax.") for name in outcome.facts.behaviour)
    assert not COMPILING & set(result.stage_cpu)


def test_an_operator_without_a_definition_decides_nothing(executor: Executor) -> None:
    """A batch norm in training mode, as this importer leaves it."""
    raw = next(lane for lane in EVALUATED_LANES if lane.importer is Importer.EXPORT_RAW)
    outcome = outcome_of(executor, CASES["conv"], raw)
    assert isinstance(outcome, Built)
    undefined = [name for name in outcome.facts.behaviour if name.startswith("undefined")]
    assert undefined == ["undefined batch norm by the batch's own statistics"]


def test_a_second_run_of_a_case_exports_nothing_again(executor: Executor) -> None:
    case = CASES["linear"]
    assert Stage.EXPORT in executor.run_fresh(case, (ONNX, EXPORT)).stage_cpu
    executor.run(case, (TORCH, ONNX, EXPORT))
    more = executor.run(case, (ONNX, EXPORT))
    assert Stage.EXPORT not in more.stage_cpu
    assert all(isinstance(outcome, Ran) for outcome in more.outcomes.values())


def traced(executor: Executor, case: Case, lane: LaneSpec) -> Trace:
    """What the evaluation, which has no result, says of the module."""
    outcome = outcome_of(executor, case, lane)
    assert isinstance(outcome, Built)
    assert outcome.facts.trace is not None
    return outcome.facts.trace


def test_a_module_that_reads_outside_of_a_tensor_has_no_result(executor: Executor) -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "select", "x0", {"dim": 0, "index": -2})], "v0")
    assert traced(executor, case, EXPORT) == Trace(outside="take asks for elements that are not there")


@pytest.mark.parametrize("op", ["floor_divide", "fmod"])
def test_a_module_that_declares_other_types_than_the_graph_is_wrong_and_the_evaluation_is_not(
    executor: Executor, op: str
) -> None:
    """TVM 0.27 divides a bool by a float without a promotion. The compiled kernel writes a float nevertheless."""
    case = case_of({"x0": "bool[]", "x1": "float32[1]"}, [("v0", op, "x0 x1")], "v0")
    case = replace(case, tensors={"x0": np.array(False), "x1": np.array([-2.5], np.float32)})
    tier_1 = executor.run(case, (*TORCH_LANES, EXPORT)).outcomes
    assert tier_1[EXPORT].facts.trace == Trace(
        other_types="result 0 is declared as bool[1], and the graph's is float32[1]",
        wrong_result=0,
    )
    assert verdicts(tier_1) == {EXPORT: ImportVerdict.WRONG}
    compiled = executor.run(case, (plain_of(EXPORT),)).outcomes
    assert isinstance(compiled[plain_of(EXPORT)], Ran)
    assert evaluation_disagrees(tier_1, {**tier_1, **compiled}) == ()


def test_a_declared_shape_that_the_graph_refutes_is_a_mistake_of_tvm(executor: Executor) -> None:
    """TVM 0.27 declares arange(0, -10, -2) with six elements. The sixth is not read here."""
    calls: list[Call] = [
        ("v0", "arange", "", {"start": 0, "end": -10, "step": -2, "dtype": "float32"}),
        ("v1", "select", "v0", {"dim": 0, "index": 1}),
        ("v2", "add", "x0 v1"),
    ]
    case = case_of({"x0": "float32[3]"}, calls, "v2")
    assert traced(executor, case, EXPORT) == Trace(
        other_types="relax.arange is declared as [6], and by its definition it is [5]"
    )


@pytest.mark.parametrize(
    ("declared_as", "defined_as", "refuted"),
    [((6,), (5,), True), ((5,), (6,), False), ((7,), (6,), False), ((3,), (5,), False), ((6,), (3,), False)],
    ids=["of-tvm", "of-difftvm", "neither-in-the-graph", "both-in-the-graph", "of-an-input-only"],
)
def test_a_node_of_the_graph_decides_between_a_declaration_and_a_definition(
    declared_as: tuple[int, ...], defined_as: tuple[int, ...], refuted: bool
) -> None:
    from fuzzer.lanes.evaluated.evaluation import is_refuted  # loads TVM

    graph = case_of({"x0": "float32[3]", "x1": "float32[5]"}, [("v0", "relu", "x1")], "v0").graph
    assert is_refuted(Contradiction("relax.arange", "float32", declared_as, defined_as), graph) is refuted
    assert not is_refuted(Contradiction("relax.arange", "int64", declared_as, defined_as), graph)


def test_operands_of_two_dtypes_decide_nothing(executor: Executor) -> None:
    calls = [("v0", "floor_divide", "x0 x1"), ("v1", "isfinite", "v0")]
    case = case_of({"x0": "bool[]", "x1": "float32[1]"}, calls, "v1")
    outcome = outcome_of(executor, case, EXPORT)
    assert isinstance(outcome, Built)
    assert outcome.facts.trace is None
    assert outcome.facts.behaviour[-1] == "undefined operands of two dtypes"


def test_a_size_that_depends_on_numbers_decides_nothing(executor: Executor) -> None:
    case = case_of(
        {"x0": "float32[2,3]", "x1": "float32[1]", "x2": "bool[2,3]"},
        [("v0", "index_put", "x0 x1 x2", {"accumulate": True})],
        "v0",
    )
    outcome = outcome_of(executor, case, ONNX)
    assert isinstance(outcome, Built)
    assert outcome.facts.behaviour[-1] == "undefined a size that is no number"


def test_a_large_kernel_is_left_to_compiled_code(executor: Executor) -> None:
    def padded(rows: int) -> Outcome:
        case = case_of({"x0": f"float32[1,{rows},20]"}, [("v0", "pad_reflect", "x0", {"pad": (1, 1)})], "v0")
        return outcome_of(executor, case, ONNX)

    assert isinstance(padded(40), Ran)
    large = padded(60)
    assert isinstance(large, Built)
    assert large.facts.behaviour[-1] == "undefined a kernel of too many steps"


def test_the_types_of_results_are_compared_where_their_sizes_are_known() -> None:
    from fuzzer.lanes.evaluated.evaluation import other_types  # loads TVM

    right = tuple(map(TensorType.parse, ("float32[2,3]", "int64[]")))
    assert other_types(("float32[2, 3]", "int64[]"), right) is None
    assert other_types(("", "int64[]"), right) is None
    assert other_types(("", "int32[]"), right) == (1, "result 1 is declared as int32[], and the graph's is int64[]")
    assert other_types(("float32[2, 3]",), right) == (None, "1 results are declared, and the graph has 2")


def declared(shape: list[int | None], dtype: str = "float32") -> Any:
    sizes = [SimpleNamespace(value=size) if size is not None else SimpleNamespace() for size in shape]
    return SimpleNamespace(dtype=dtype, shape=SimpleNamespace(values=sizes))


def call_of(name: str, kind: Any, **attrs: Any) -> Any:
    return SimpleNamespace(op=SimpleNamespace(name=f"relax.{name}"), attrs=SimpleNamespace(**attrs), ty=kind)


def test_a_call_that_is_declared_with_another_shape_contradicts_its_module() -> None:
    from fuzzer.lanes.evaluated.evaluation import declared_value  # loads TVM

    x = torch.ones(2, 3)
    assert torch.equal(declared_value(call_of("add", declared([2, 3])), (x, x)), x + x)
    assert torch.equal(declared_value(call_of("add", declared([None, 3])), (x, x)), x + x), (
        "an open size is not compared"
    )
    assert declared_value(call_of("add", declared([2, 3], "int64")), (x, x)).dtype is torch.int64
    wrong = r"relax.add is declared as \[3, 2\], and by its definition it is \[2, 3\]"
    with pytest.raises(Contradiction, match=wrong):
        declared_value(call_of("add", declared([3, 2])), (x, x))
    with pytest.raises(Unknown, match=r"relax\.add RuntimeError"):
        declared_value(call_of("add", declared([2, 3])), (x, torch.ones(5)))


@pytest.mark.parametrize("name", ["maximum", "clip", "nn.relu", "sign"])
def test_nan_through_a_comparison_decides_nothing(name: str) -> None:
    """TVM leaves it unspecified, and compiled code may be right by chance."""
    from fuzzer.lanes.evaluated.evaluation import declared_value  # loads TVM

    operands = {"maximum": (torch.ones(2),), "clip": (0, 1)}.get(name, ())
    with pytest.raises(Unknown, match=f"^relax.{name} of NaN$"):
        declared_value(call_of(name, declared([2])), (torch.tensor([1.0, torch.nan]), *operands))
    assert declared_value(call_of(name, declared([2])), (torch.tensor([1.0, 0.0]), *operands)).tolist()[0] == 1.0
    nan = declared_value(call_of("add", declared([2])), (torch.tensor([1.0, torch.nan]), torch.ones(2)))
    assert bool(nan.isnan()[1])


def test_operands_that_pytorch_refuses_decide_nothing() -> None:
    from fuzzer.lanes.evaluated.evaluation import declared_value  # loads TVM

    with pytest.raises(Unknown, match=r"relax\.argmax IndexError"):
        declared_value(call_of("argmax", declared([2]), axis=5), (torch.ones(2, 3),))
    with pytest.raises(Unknown, match=r"relax\.split of another number of tensors"):
        declared_value(call_of("split", declared([2]), axis=0, indices_or_sections=[]), (torch.ones(2),))
