"""Which ONNX files onnxruntime refuses as invalid, and which it refuses for a reason of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.lanes.onnx.session import lags
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx.reader.refusal import refusal

pytestmark = pytest.mark.slow

node = helper.make_node


def save(path: Path, nodes: list[Any], element: int = TensorProto.FLOAT, rows: int | str = 2, **tensors: Any) -> Path:
    """A file with the input x of `rows` rows of 3 numbers."""
    value = helper.make_tensor_value_info("x", element, [rows, 3])
    outputs = [helper.make_empty_tensor_value_info(name) for each in nodes for name in each.output]
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()]
    graph = helper.make_graph(nodes, "g", [value], outputs, weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.parametrize(
    ("nodes", "element", "why"),
    [
        ([node("Gemm", ["x", "x"], ["y"])], TensorProto.FLOAT, "Op (Gemm) [ShapeInferenceError] Dimension mismatch"),
        ([node("Gemm", ["x", "x"], ["y"], transB=1)], TensorProto.BOOL, "Type Error: Type 'tensor(bool)'"),
        ([node("Relu", ["x"], ["y"], unheard_of=1)], TensorProto.FLOAT, "Unrecognized attribute: unheard_of"),
        ([node("Gemm", ["x"], ["y"])], TensorProto.FLOAT, "has input size 1 not in range [min=2, max=3]"),
        ([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])], TensorProto.FLOAT, "Duplicate definition"),
    ],
)
def test_a_file_that_breaks_a_rule_is_invalid(nodes: list[Any], element: int, why: str, tmp_path: Path) -> None:
    found = refusal(save(tmp_path / "m.onnx", nodes, element))
    assert why in found
    assert not found.startswith(("[ONNXRuntimeError]", "This is an invalid model"))
    assert "\n" not in found


@pytest.mark.parametrize(
    ("nodes", "element"),
    [
        ([node("Relu", ["x"], ["y"])], TensorProto.FLOAT),
        ([node("Relu", ["x"], ["y"])], TensorProto.BFLOAT16),  # there is no kernel
        ([node("Unheard", ["x"], ["y"], domain="own")], TensorProto.FLOAT),
        ([node("FastGelu", ["x"], ["y"])], TensorProto.FLOAT),  # TVM does not look at domains
    ],
)
def test_what_onnxruntime_lacks_is_not_invalid(nodes: list[Any], element: int, tmp_path: Path) -> None:
    assert refusal(save(tmp_path / "m.onnx", nodes, element)) == ""


def newer(path: Path, op: str, **attributes: Any) -> Path:
    """A file that onnxruntime does not know yet: of opset 28."""
    model = onnx.load(save(path, [node(op, ["x"], ["y"], **attributes)]))
    model.opset_import[0].version = 28
    onnx.save(model, path)
    return path


def test_a_file_that_is_newer_than_onnxruntime_is_checked_by_the_onnx_package(tmp_path: Path) -> None:
    assert refusal(newer(tmp_path / "m.onnx", "Relu")) == ""
    assert "Unrecognized attribute: unheard_of" in refusal(newer(tmp_path / "m.onnx", "Relu", unheard_of=1))


def test_what_onnxruntime_says_of_its_own_functions_says_nothing_of_the_file() -> None:
    """It has a function of other operators in place of Attention in bfloat16, with an Add of two types."""
    says = "Type Error: Type parameter (T) of Optype (Add) bound to different types"
    relu, add = (helper.make_model(helper.make_graph([node(op, ["x"], ["y"])], "g", [], [])) for op in ("Relu", "Add"))
    assert [lags(says, model) for model in (relu, add)] == [True, False]


def test_an_open_size_may_fit(tmp_path: Path) -> None:
    """The reader replaces it by 2, which does not fit."""
    path = save(tmp_path / "m.onnx", [node("Add", ["x", "w"], ["y"])], rows="n", w=np.zeros((7, 3), np.float32))
    assert refusal(path) == ""


def test_other_files_are_not_opened(tmp_path: Path) -> None:
    large = np.zeros((3, 30_000), np.float32)
    for nodes in (
        [node("MatMul", ["x", "w"], ["y"])],
        [node("Constant", [], ["c"], value=numpy_helper.from_array(large)), node("MatMul", ["x", "c"], ["y"])],
    ):
        path = save(tmp_path / "m.onnx", nodes, w=large)
        onnx.save(onnx.load(path), path, save_as_external_data=True, location="weights.bin", convert_attribute=True)
        (tmp_path / "weights.bin").unlink()
        assert refusal(path) == ""


def test_a_child_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "m.onnx", [node("Gemm", ["x", "x"], ["y"])])
    assert onnx_file.refusal_of(path) == refusal(path) != ""
    path.write_bytes(b"\x80\x04")
    assert onnx_file.refusal_of(path) == "", "the reader refuses it"
    monkeypatch.setattr(onnx_file, "REFUSAL_MODULE", "no.such.module")
    assert onnx_file.refusal_of(path) == ""
