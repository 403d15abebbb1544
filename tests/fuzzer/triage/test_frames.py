"""What a function of C++ or a method of Python is called."""

from __future__ import annotations

import pytest

from fuzzer.triage.signature import meaningful, plain_function
from oracles.outcome import Frame

ONNX = "/venv/tvm/relax/frontend/onnx/onnx_frontend.py"
TRANSFORM = "/venv/tvm/ir/transform.py"


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (Frame(ONNX, 7, "_impl_v13", owner="Softmax"), "onnx_frontend.py:Softmax._impl_v13"),
        (Frame(ONNX, 7, "_impl_v13"), "onnx_frontend.py:_impl_v13"),
        (Frame(ONNX, 7, "base_impl", owner="Add"), "onnx_frontend.py:Add.base_impl"),
        (Frame(ONNX, 7, "_construct_nodes", owner="ONNXGraphImporter"), "onnx_frontend.py:_construct_nodes"),
    ],
)
def test_converters_of_onnx_are_called_by_their_class(frame: Frame, name: str) -> None:
    assert meaningful([frame]) == name


def test_a_transform_stands_for_a_pass_that_says_nothing() -> None:
    frames = [Frame("<ConvertLayout-packed>", 1, "<module>"), Frame(TRANSFORM, 238, "__call__")]
    assert meaningful(frames) == "ConvertLayout-packed"
    cpp = Frame("/project/src/relax/transform/convert_layout.cc", 7, "tvm::relax::LayoutConvert(tvm::Expr)")
    assert meaningful([*frames, cpp]) == "convert_layout.cc:tvm::relax::LayoutConvert"
    assert meaningful([Frame("<string>", 1, "<module>"), Frame("<frozen runpy>", 7, "run")]) == "<frozen runpy>:run"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("tvm::relax::(anonymous namespace)::Fold(tvm::Expr)", "tvm::relax::Fold"),
        ("float onnxruntime::{anonymous}::GetRatio(const onnxruntime::Tensor*)", "onnxruntime::GetRatio"),
        ("tvm::relax::Build(int)::{lambda(tvm::Expr)#3}::operator()(tvm::Expr) const", "tvm::relax::Build"),
    ],
)
def test_plain_function(function: str, name: str) -> None:
    assert plain_function(function) == name
