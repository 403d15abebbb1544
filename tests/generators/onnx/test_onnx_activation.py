"""Activations: the definitions that the interpreter lacks."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.graph import Array
from generators.onnx.rows import ROWS
from generators.types import TensorType


@pytest.mark.parametrize(("row", "terms"), [("Softmax-1", 12), ("Softmax-11", 12), ("Softmax-13", 3)])
def test_before_opset_13_a_sum_has_all_numbers_from_the_axis_on(row: str, terms: int) -> None:
    op = ROWS[row]
    assert op.terms is not None
    assert op.terms((TensorType.parse("float32[2,3,4]"),), {"axis": 1}) == terms


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
