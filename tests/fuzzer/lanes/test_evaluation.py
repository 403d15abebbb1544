"""Lanes of tier 1: imported modules, checked and evaluated, and compiled nowhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from graphs_by_hand import case_of
from small_models import CASES, outcome_of, small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVALUATED_LANES, TORCH
from fuzzer.lanes.evaluated.common import Outside, Unknown
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Ran, Stage, Unsupported

pytestmark = pytest.mark.tvm

EXPORT, ONNX = EVALUATED_LANES[:2]
COMPILING = {Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD}


@pytest.mark.parametrize("lane", EVALUATED_LANES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_the_values_are_those_of_pytorch_and_nothing_is_compiled(executor: Executor, name: str, lane: LaneSpec) -> None:
    result = executor.run(CASES[name], (TORCH, lane))
    right, outcome = result.outcomes[TORCH], result.outcomes[lane]
    assert isinstance(right, Ran)
    if isinstance(outcome, Unsupported):
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
    nearest = {"size": (4, 6), "scale_factor": None}
    case = case_of({"x0": "float32[1,2,2,3]"}, [("v0", "interpolate_nearest", "x0", nearest)], "v0", small)
    outcome = outcome_of(executor, case, EXPORT)
    assert isinstance(outcome, Built)
    assert outcome.facts.behaviour[-1] == "undefined relax.image.resize2d"


def test_a_second_run_of_a_case_exports_nothing_again(executor: Executor) -> None:
    case = CASES["linear"]
    assert Stage.EXPORT in executor.run_fresh(case, (ONNX, EXPORT)).stage_cpu
    executor.run(case, (TORCH, ONNX, EXPORT))
    more = executor.run(case, (ONNX, EXPORT))
    assert Stage.EXPORT not in more.stage_cpu
    assert all(isinstance(outcome, Ran) for outcome in more.outcomes.values())


def declared(shape: list[int | None], dtype: str = "float32") -> Any:
    sizes = [SimpleNamespace(value=size) if size is not None else SimpleNamespace() for size in shape]
    kind = SimpleNamespace(dtype=dtype, shape=SimpleNamespace(values=sizes))
    return SimpleNamespace(op=SimpleNamespace(name="relax.add"), attrs=None, ty=kind)


def test_an_operator_that_is_declared_with_another_shape_contradicts_its_module() -> None:
    from fuzzer.lanes.evaluated.evaluation import _value  # loads TVM

    x = torch.ones(2, 3)
    assert torch.equal(_value(declared([2, 3]), (x, x)), x + x)
    assert torch.equal(_value(declared([None, 3]), (x, x)), x + x), "an open size is not compared"
    assert _value(declared([2, 3], "int64"), (x, x)).dtype is torch.int64
    with pytest.raises(Outside, match=r"relax.add is declared as \[3, 2\], and by its definition it is \[2, 3\]"):
        _value(declared([3, 2]), (x, x))
    with pytest.raises(Unknown, match=r"relax\.add RuntimeError"):
        _value(declared([2, 3]), (x, torch.ones(5)))
