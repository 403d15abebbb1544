"""Accesses out of bounds of real programs, and of lanes of real cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs_by_hand import case_of
from small_models import outcome_of, small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVERY_TVM_LANE, TORCH
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Array, DType, Input, TensorType
from generators.onnx.rows import at_opset
from generators.random_graph import with_values
from oracles.lane import LaneSpec
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Raised, Ran, Stage

pytestmark = pytest.mark.tvm

LANES = {lane.name: lane for lane in EVERY_TVM_LANE}
PLAIN = LANES["relax-export-llvm"]
NUMBERS = [float(number) for number in range(8)]


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    file = Path(__file__).with_name("memory_faults.py")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


OUTPUT, BETWEEN = "output 0", "an intermediate tensor"


@pytest.mark.parametrize(
    ("program", "does"),
    [
        ("right", []),
        ("reads before", ["reads out of bounds, 1 element before input x0"]),
        ("reads after", ["reads out of bounds, 1 element after input x0"]),
        ("reads far", ["reads out of bounds, 53 elements after input x0"]),
        ("reads before a constant", ["reads out of bounds, 1 element before a constant"]),
        ("leaves a hole", [f"uses elements of {OUTPUT} that nothing has written"]),
        (
            "writes before",
            [
                f"writes out of bounds, 1 element before {OUTPUT}",
                f"writes out of bounds, 1 element before {BETWEEN}",
                f"uses elements of {OUTPUT} that nothing has written",
            ],
        ),
        (
            "writes after",
            [
                f"writes out of bounds, 1 element after {OUTPUT}",
                f"writes out of bounds, 3 elements after {BETWEEN}",
                f"uses elements of {OUTPUT} that nothing has written",
            ],
        ),
        *(
            (f"reads before {dtype}", ["reads out of bounds, 1 element before input x0"])
            for dtype in ("bfloat16", "int8", "bool", "float64")
        ),
    ],
)
def test_the_nearest_access_is_named(programs: dict[str, Any], program: str, does: list[str]) -> None:
    assert programs[program]["does"] == does
    assert programs[program]["modified"] == []


def test_the_fillings_differ_and_the_numbers_of_the_tensor_do_not(programs: dict[str, Any]) -> None:
    assert programs["right"]["outputs"] == [NUMBERS, NUMBERS]
    low, high = programs["reads before"]["outputs"]
    assert (low, high) == ([*[-1024.0] * 3, *NUMBERS[:5]], [*[1024.0] * 3, *NUMBERS[:5]])


@pytest.mark.parametrize(
    "name",
    ["relax-export-llvm", "relax-export-zero", "relax-export-compiled", "relax-fx-llvm", "relax-export-raw-llvm"],
)
def test_a_negative_index_of_select_reads_before_its_input(executor: Executor, name: str) -> None:
    """A bug of TVM 0.27: `take` is called in its fast mode, which does not wrap indices."""
    case = case_of({"x0": "float32[3,4]"}, [("v0", "select", "x0", {"dim": 1, "index": -2})], "v0", small)
    outcome = executor.run(case, (TORCH, LANES[name])).outcomes[LANES[name]]
    assert isinstance(outcome, Ran), outcome
    assert outcome.facts.accesses == (MemoryAccess(Access.READ, "input x0", Side.BEFORE, 2, "float32"),)


@pytest.mark.parametrize("name", ["relax-export-llvm", "relax-export-inputs", "relax-export-lifted", "relax-onnx-llvm"])
def test_parameters_have_the_same_numbers_in_guarded_memory(executor: Executor, name: str) -> None:
    lane: LaneSpec = LANES[name]
    case = case_of({"x0": "float32[2,3]", "w0": "float32[3]"}, [("v0", "mul", "x0 w0")], "v0", small)
    outcome = outcome_of(executor, case, lane)
    assert isinstance(outcome, Ran), outcome
    np.testing.assert_array_equal(outcome.outputs[0], case.tensors["x0"] * case.tensors["w0"])
    assert outcome.facts.accesses == ()


def test_a_storage_of_negative_size_is_tvms_failure(executor: Executor) -> None:
    """`from_fx` makes six chunks of seven elements, where PyTorch makes four. The last one has a negative size."""
    calls = [("v0 v1 v2 v3", "chunk", "x0", {"chunks": 6, "dim": 0})]
    case = case_of({"x0": "float32[7]"}, calls, "v0", small)
    outcome = outcome_of(executor, case, LANES["relax-fx-llvm"])
    assert isinstance(outcome, Raised), outcome
    assert (outcome.stage, outcome.type) == (Stage.RUN, "tvm.error.InternalError")


def test_a_storage_that_is_larger_than_any_case_is_tvms(programs: dict[str, Any]) -> None:
    """A program of TVM's may ask for 8 GiB by mistake. The failure is its own then, and not one of the guards."""
    assert set(programs["leaves a hole"]["guarded"]) == {32}
    assert programs["leaves a hole in memory of TVM"]["guarded"] == []


@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_a_shape_is_no_tensor_whatever_it_has(executor: Executor, shape: tuple[int, ...]) -> None:
    """TVM's importer returns a shape for the operator Shape. It is a sequence, perhaps an empty one."""
    b = Builder(NumpySource(0), dialect="onnx", opset=17)
    row = at_opset("Shape", 17)
    b.emit(row, (b.fresh_input(TensorType(DType.FLOAT32, shape)),), dict.fromkeys(row.schema))
    found = outcome_of(executor, with_values(b, "a shape"), LANES["relax-onnx-model-llvm"])
    assert isinstance(found, Raised)
    assert found.stage is Stage.RUN
    assert found.type.endswith("NotATensor")
    assert found.message == "output 0 of the compiled function is a shape, no tensor"


def test_a_number_is_no_tensor(executor: Executor) -> None:
    """TVM's importer returns a number for one item of the operator Shape."""
    calls = [("v0", "Shape-13", "x0", {}), ("v1", "Gather-13", "v0 w0", {"axis": 0})]

    def ones(item: Input) -> Array:
        return np.ones(item.value.type.sizes, item.value.type.dtype.numpy)

    case = case_of({"x0": "float32[2,3]", "w0": "int64[]"}, calls, "v1", ones, opset=13)
    found = outcome_of(executor, case, LANES["relax-onnx-model-llvm"])
    assert isinstance(found, Raised)
    assert found.message == "output 0 of the compiled function is a number, no tensor"
