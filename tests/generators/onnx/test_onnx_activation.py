"""Activations: result types, refusals, the definitions that the interpreter lacks, and drawn cases."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_calls import inferred, invalid_case

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.graph import Array, Invalid
from generators.onnx.ops.activation import OPERATORS
from generators.onnx.rows import ROWS
from generators.types import TensorType

TYPES = [
    ("Relu-14", "int32[2]", {}, "int32[2]"),
    ("Gelu-20", "float16[2,3]", {"approximate": "tanh"}, "float16[2,3]"),
    ("FastGelu-1", "float32[2,3]", {"inputs": (True, False)}, "float32[2,3]"),
    ("FastGelu-1", "float32[2,3] float32[3]", {"inputs": (True, True)}, "float32[2,3]"),
    ("BiasGelu-1", "float32[3] float32[3]", {}, "float32[3]"),
    ("PRelu-7", "float32[2,3,4] float32[3,1]", {}, "float32[2,3,4]"),
    ("Shrink-9", "uint8[3]", {"bias": 2.0, "lambd": 0.5}, "uint8[3]"),
    ("Softmax-11", "float32[2,3]", {"axis": -2}, "float32[2,3]"),
    ("Hardmax-13", "float32[2]", {}, "float32[2]"),
    ("Dropout-7", "float32[2]", {"outputs": (True, False)}, "float32[2]"),
    ("Dropout-12", "float16[2]", {"outputs": (True, True)}, "float16[2] bool[2]"),
    ("Dropout-13", "float32[6]", {"ratio": 0.0, "training_mode": True, "outputs": (False, True)}, "bool[6]"),
]

REFUSED = [
    ("PRelu-9", "float32[2,1] float32[3]", {}, "does not broadcast to float32[2,1]"),
    ("PRelu-9", "float32[2] float16[2]", {}, "slope must be float32"),
    ("BiasGelu-1", "float32[2,3] float32[2]", {}, "has not the last size"),
    ("BiasGelu-1", "float32[] float32[]", {}, "has not the last size"),
    ("Shrink-9", "int8[3]", {"bias": 0.5}, "the bias of integers is an integer"),
    ("Softmax-1", "float32[2,3]", {"axis": -1}, "axis -1 is out of range"),  # before opset 11 none counts from the end
    ("Softmax-11", "float32[2]", {}, "axis 1 is out of range for rank 1"),  # 1 is the default before opset 13
    ("Softmax-13", "float32[]", {}, "axis -1 is out of range for rank 0"),
    ("Softsign-1", "float32[]", {}, "no Softsign of rank 0"),
    ("HardSwish-14", "float64[2]", {}, "onnxruntime has no HardSwish of float64"),
    ("Gelu-20", "float32[2]", {"approximate": "erf"}, "approximate must be one of none, tanh or null"),
    ("Dropout-10", "float32[2]", {"outputs": (True, True)}, "a result does not exist"),
    ("Dropout-12", "float32[2]", {"training_mode": True, "outputs": (True, False)}, "the result of training is random"),
    ("Dropout-22", "float32[2]", {"ratio": 1.0, "outputs": (True, False)}, "ratio 1.0 is not within 0 and 1"),
]


@pytest.mark.parametrize(("row", "types", "given", "result"), TYPES)
def test_result_types(row: str, types: str, given: dict[str, object], result: str) -> None:
    assert inferred(row, types, **given) == result


@pytest.mark.parametrize(("row", "types", "given", "message"), REFUSED)
def test_refusals(row: str, types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(row, types, **given)
    assert message in str(error.value)


@pytest.mark.parametrize(("row", "terms"), [("Softmax-1", 12), ("Softmax-11", 12), ("Softmax-13", 3)])
def test_before_opset_13_a_sum_has_all_numbers_from_the_axis_on(row: str, terms: int) -> None:
    op = ROWS[row]
    assert op.terms is not None
    assert op.terms((TensorType.parse("float32[2,3,4]"),), {"axis": 1}) == terms


@pytest.mark.slow
def test_drawn_cases_are_valid_in_both_readers() -> None:
    wrong = {each.name: invalid_case(each.name, 10) for each in OPERATORS}
    assert {name: text for name, text in wrong.items() if text} == {}


# --- the definitions of fuzzer/lanes/onnx/definitions.py: onnxruntime gives the same numbers

X = np.random.RandomState(1).standard_normal((2, 3, 4)).astype(np.float32) * 3
BIAS = np.array([0.5, -1, 2, 0], np.float32)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("opset", [7, 11, 12, 13])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
def test_the_softmax_family_is_that_of_its_opset(operator: str, opset: int, axis: int | None) -> None:
    node = helper.make_node(operator, ["x"], ["y"], **({} if axis is None else {"axis": axis}))
    require_same(node, opset, x=X)


@pytest.mark.parametrize(("operator", "names"), [("FastGelu", "x"), ("FastGelu", "x b"), ("BiasGelu", "x b")])
def test_gelu_of_com_microsoft(operator: str, names: str) -> None:
    node = helper.make_node(operator, names.split(), ["y"], domain="com.microsoft")
    require_same(node, 17, **{name: {"x": X, "b": BIAS}[name] for name in names.split()})


@pytest.mark.parametrize("names", ["x", "b x", "b x b"])
def test_a_mean_may_begin_with_a_small_operand(names: str) -> None:
    require_same(helper.make_node("Mean", names.split(), ["y"]), 13, x=X, b=BIAS)


def require_same(node: onnx.NodeProto, opset: int, **inputs: Array) -> None:
    used = {name: array for name, array in inputs.items() if name in node.input}
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in used.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, X.shape)],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (one,), (other,) = by_onnxruntime(model, used), by_interpreter(model, used)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert one.dtype == other.dtype
