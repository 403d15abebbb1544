"""Files that an exporter wrote wrongly, or in float16: no reader confirms them, or one gives TVM's result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from graphs_by_hand import case_of, filled
from onnx import TensorProto, helper, numpy_helper
from small_models import small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import ONNX_READERS, SAMPLED_LANES, TVM_LANES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.onnx.other_readers import OnnxReferenceLane
from fuzzer.lanes.onnx.widened import widened, widened_inputs
from fuzzer.triage.reproduce import observe
from generators.graph import Array, Case, Input
from oracles.finding import Component
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Ran

HALF = ml_dtypes.bfloat16
BFLOAT16, FLOAT, FLOAT16, INT64 = TensorProto.BFLOAT16, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
INTERPRETER = ONNX_READERS[0]


def file_of(
    inputs: dict[str, tuple[int, list[int]]], nodes: list[onnx.NodeProto], shape: list[int] | None = None
) -> onnx.ModelProto:
    """A model of one output, y, in the dtype of the first input, and in its shape where no other is given."""
    values = [helper.make_tensor_value_info(name, element, dims) for name, (element, dims) in inputs.items()]
    element, dims = next(iter(inputs.values()))
    y = helper.make_tensor_value_info("y", element, dims if shape is None else shape)
    graph = helper.make_graph(nodes, "g", values, [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


class Holding(PreparedCase):
    """A prepared case that holds a file and its inputs."""

    def __init__(self, file: onnx.ModelProto, inputs: dict[str, Array]) -> None:
        self.file, self.arrays = file, inputs

    def once(self, name: str, make: object, *, reads_inputs: bool = True) -> Any:
        return self.file.SerializeToString()

    @property
    def inputs(self) -> dict[str, Array]:
        return self.arrays


def read(file: onnx.ModelProto, **inputs: Array) -> Array:
    (output,) = OnnxReferenceLane().run(Holding(file, inputs), INTERPRETER, Quiet()).outputs
    return output


def half(*numbers: float) -> Array:
    return np.array(numbers, HALF)


X = {"x": (BFLOAT16, [2, 3])}
WRONG: dict[str, tuple[onnx.ModelProto, dict[str, Array]]] = {
    "a perm of the wrong length": (
        file_of(X, [helper.make_node("Transpose", ["x"], ["y"], perm=[0, 2, 1])]),
        {"x": np.ones((2, 3), HALF)},
    ),
    "complex128": (
        file_of(
            X,
            [
                helper.make_node("Cast", ["x"], ["c"], to=TensorProto.COMPLEX128),
                helper.make_node("Cast", ["c"], ["y"], to=BFLOAT16),
            ],
        ),
        {"x": np.ones((2, 3), HALF)},
    ),
    "operands of two dtypes": (
        file_of({"x": (BFLOAT16, [2]), "z": (FLOAT, [2])}, [helper.make_node("Add", ["x", "z"], ["y"])]),
        {"x": half(1, 2), "z": np.ones(2, np.float32)},
    ),
    "updates of another dtype": (
        file_of(
            {"x": (BFLOAT16, [2]), "i": (INT64, [1, 1]), "u": (FLOAT, [1])},
            [helper.make_node("ScatterND", ["x", "i", "u"], ["y"])],
        ),
        {"x": half(1, 2), "i": np.array([[0]]), "u": np.ones(1, np.float32)},
    ),
    "updates that are larger than their indices": (
        file_of(
            {"x": (BFLOAT16, [3]), "i": (INT64, [2]), "u": (BFLOAT16, [3])},
            [helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=0)],
        ),
        {"x": half(1, 2, 3), "i": np.array([0, 1]), "u": half(4, 5, 6)},
    ),
    "an operator before its opset had the dtype": (
        file_of(
            {"x": (BFLOAT16, [1, 1, 4])},
            [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2])],
            [1, 1, 3],
        ),
        {"x": np.ones((1, 1, 4), HALF)},
    ),
    "a Gather on rank 0": (
        file_of({"x": (BFLOAT16, []), "i": (INT64, [])}, [helper.make_node("Gather", ["x", "i"], ["y"])]),
        {"x": np.ones((), HALF), "i": np.zeros((), np.int64)},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_no_reader_accepts_a_file_that_was_written_wrongly(name: str) -> None:
    file, inputs = WRONG[name]
    with pytest.raises(Exception, match=r"InferenceError|ONNXRuntimeError"):
        read(file, **inputs)


def test_a_file_in_bfloat16_is_read() -> None:
    file = file_of({"x": (BFLOAT16, [2]), "z": (BFLOAT16, [2])}, [helper.make_node("Add", ["x", "z"], ["y"])])
    output = read(file, x=half(1, 2), z=half(0.5, 8))
    assert output.dtype == HALF
    np.testing.assert_array_equal(output, half(1.5, 10))


def test_a_dtype_for_which_onnxruntime_has_no_kernel_is_read() -> None:
    file = file_of({"x": (TensorProto.UINT16, [2])}, [helper.make_node("Abs", ["x"], ["y"])])
    np.testing.assert_array_equal(read(file, x=np.array([1, 2], np.uint16)), np.array([1, 2], np.uint16))


def test_widened_files_have_no_bfloat16_left_and_compute_the_same() -> None:
    """In inputs, outputs, weights, constants, casts, and within control flow."""
    body = helper.make_graph(
        [helper.make_node("Constant", [], ["o"], value=numpy_helper.from_array(half(3)))],
        "body",
        [],
        [helper.make_tensor_value_info("o", BFLOAT16, [1])],
    )
    nodes = [
        helper.make_node("Cast", ["z"], ["c"], to=BFLOAT16),
        helper.make_node("If", ["b"], ["k"], then_branch=body, else_branch=body),
        helper.make_node("Sum", ["x", "c", "k", "w"], ["y"]),
    ]
    file = file_of({"x": (BFLOAT16, [1]), "z": (FLOAT, [1]), "b": (TensorProto.BOOL, [])}, nodes)
    file.graph.initializer.append(numpy_helper.from_array(half(4), "w"))
    before = file.SerializeToString()
    inputs: dict[str, Array] = {"x": half(1), "z": np.array([2], np.float32), "b": np.array(True)}
    wide = widened(file)
    assert file.SerializeToString() == before
    assert "type: 16" not in str(wide)
    np.testing.assert_array_equal(read(wide, **widened_inputs(inputs)), np.array([10], np.float32))


# --- what the exporters of today write


def case(inputs: dict[str, str], op: str, array: Callable[[Input], Array] = small, **attrs: object) -> Case:
    operands = " ".join(inputs)
    return case_of(inputs, [("v0", op, operands, attrs)], "v0", array)


def large(item: Input) -> Array:
    return np.full(item.value.type.sizes, 300, item.value.type.dtype.numpy)


USUAL = TVM_LANES[1]
NEWER = next(lane for lane in SAMPLED_LANES if lane.name == "relax-onnx-dynamo-llvm")
EXPORTED: dict[str, tuple[LaneSpec, Case]] = {
    "mixed dtypes": (USUAL, case({"x0": "float32[]", "x1": "bfloat16[3]"}, "hstack")),
    "ScatterElements of two dtypes": (
        USUAL,
        case({"x0": "bfloat16[4]", "x1": "int64[2]", "x2": "float32[]"}, "index_fill_tensor", dim=0),
    ),
    "ScatterND of two dtypes": (
        NEWER,
        case({"x0": "bfloat16[4]", "x1": "int64[2]", "x2": "float32[]"}, "index_fill_tensor", dim=0),
    ),
    "updates that are larger than their indices": (
        USUAL,
        case(
            {"x0": "bfloat16[3]", "x1": "int64[2]", "x2": "bfloat16[3]"}, "scatter_reduce", filled, dim=0, reduce="amax"
        ),
    ),
    "pool of an unbatched input": (USUAL, case({"x0": "bfloat16[4,5,6]"}, "avg_pool2d", kernel_size=(2, 2), stride=2)),
    "pool below its opset": (USUAL, case({"x0": "bfloat16[1,2,8]"}, "lp_pool1d", kernel_size=2, norm_type=2.5)),
    "Gather on rank 0": (USUAL, case({"x0": "bfloat16[]", "x1": "int64[]"}, "index_select", filled, dim=0)),
    "chunks that end before the input does": (USUAL, case({"x0": "bfloat16[1,16,1]"}, "chunk", chunks=6, dim=2)),
    "narrow from the end": (USUAL, case({"x0": "bfloat16[5]"}, "narrow", dim=0, start=-1, length=1)),
    "Reshape with a 0 that copies": (USUAL, case({"x0": "bfloat16[0,3]"}, "reshape", shape=(3, 0))),
    "a norm in float16": (USUAL, case({"x0": "float16[2,4]"}, "linalg_vector_norm", large, dim=(1,))),
}


@pytest.mark.tvm
@pytest.mark.parametrize("name", EXPORTED)
def test_tvm_is_not_blamed_for_an_exporters_wrong_file(executor: Executor, name: str) -> None:
    lane, written = EXPORTED[name]
    observed = observe(executor.run, written, lane)
    before = {each: out for each, out in observed.result.outcomes.items() if each not in ONNX_READERS}
    outcome = before[lane]
    assert not isinstance(outcome, Ran) or name == "a norm in float16"
    assert any("onnx-reference" in each.name for each in observed.result.outcomes)
    assert [f for f in judge_all(written, observed.result.outcomes) if f.component is Component.TVM] == []


@pytest.mark.tvm
def test_tvm_is_blamed_for_a_wrong_result_of_a_right_file_in_bfloat16(executor: Executor) -> None:
    written = case({"x0": "bfloat16[4]"}, "pow_scalar", exponent=2)
    observed = observe(executor.run, written, USUAL)
    assert [f.component for f in observed.findings] == [Component.TVM]
