"""Files at another opset: TVM is not blamed for what onnx.version_converter cannot convert, or converts wrongly."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzzer.lanes.onnx import converted as module
from fuzzer.lanes.onnx.converted import NotConvertible, converted

pytestmark = pytest.mark.slow
X = {"x": np.array([[1.0, -2.0]], np.float32)}


def model(op: str, opset: int) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "graph", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def test_a_file_is_converted() -> None:
    made = converted(model("Relu", 13), 14, X)
    assert [each.version for each in made.opset_import] == [14]


def test_what_the_converter_refuses_is_a_refusal() -> None:
    with pytest.raises(NotConvertible, match=r"^onnx\.version_converter: to opset 6: "):
        converted(model("Mish", 18), 6, X)


def test_a_converter_that_writes_another_function_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx.version_converter, "convert_version", lambda file, opset: model("Neg", opset))
    with pytest.raises(NotConvertible, match="the file is another function"):
        module.converted(model("Relu", 13), 14, X)


def test_a_fault_of_difftvm_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise AttributeError("broken")

    monkeypatch.setattr(module, "by_onnxruntime", broken)
    with pytest.raises(AttributeError, match="broken"):
        module.converted(model("Relu", 13), 14, X)


@pytest.mark.parametrize(
    ("dtype", "one", "other", "alike"),
    [
        ("int64", [1000, 7], [1009, 7], False),
        ("bool", [True, False], [True, True], False),
        ("float32", [1e4, 1], [1e4, 90], False),
        ("float32", [1e4, 1], [1.001e4, 1.001], True),
        ("float32", [1e4, 1e-6], [1e4, 1e-3], True),
        ("float32", [np.nan, np.inf], [np.nan, np.inf], True),
    ],
)
def test_results_of_other_kernels_are_alike_and_those_of_other_functions_are_not(
    dtype: str, one: list[float], other: list[float], alike: bool
) -> None:
    assert module._alike(np.array(one, dtype), np.array(other, dtype)) is alike
