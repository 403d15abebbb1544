"""What a function of C++ or a method of Python is called."""

from __future__ import annotations

import pytest

from fuzzer.signature import Signature, failure_location, plain_function
from fuzzer.signature.frames import is_difftvm_frame
from oracles.finding import Component, Kind
from oracles.outcome import Frame, Stage

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
    assert failure_location([frame]) == name


def test_a_transform_stands_for_a_pass_that_says_nothing() -> None:
    frames = [Frame("<ConvertLayout-packed>", 1, "<module>"), Frame(TRANSFORM, 238, "__call__")]
    assert failure_location(frames) == "ConvertLayout", "whatever its options"
    cpp = Frame("/project/src/relax/transform/convert_layout.cc", 7, "tvm::relax::LayoutConvert(tvm::Expr)")
    assert failure_location([*frames, cpp]) == "convert_layout.cc:tvm::relax::LayoutConvert"
    assert (
        failure_location([Frame("<string>", 1, "<module>"), Frame("<frozen runpy>", 7, "run")]) == "<frozen runpy>:run"
    )


def test_difftvms_own_files_are_left_out() -> None:
    own = ("/venv/fuzzer/lanes/relax/build.py", "generators/check.py", "/a/oracles/judge.py")
    others = ("/venv/my_fuzzer/build.py", "/venv/fuzzer/build.cc", "/venv/tvm/relax/op.py")
    assert [is_difftvm_frame(Frame(file, 1, "f")) for file in (*own, *others)] == [True] * 3 + [False] * 3


def test_a_finding_that_was_saved_before_classes_were_known_is_found_again() -> None:
    def with_frame(frame: str) -> Signature:
        return Signature(Kind.REJECTED, Component.TVM, Stage.IMPORT, "ValueError", "no value in Constant", frame)

    saved, current = with_frame("onnx_frontend.py:_impl_v13"), with_frame("onnx_frontend.py:Constant._impl_v13")
    assert saved.same_failure(current)
    assert not current.same_failure(saved)
    assert not current.same_failure(with_frame("onnx_frontend.py:Softmax._impl_v13"))
    assert with_frame("").same_failure(with_frame("ConvertLayout"))
    assert not with_frame("FoldConstant").same_failure(with_frame("ConvertLayout"))
    assert with_frame("ConvertLayout-packed").same_failure(with_frame("ConvertLayout"))
    one, now = (
        f"codegen_llvm.cc:tvm::codegen::CodeGenLLVM::Create{what} < build.py:f" for what in ("GT", "Comparison")
    )
    assert with_frame(one).same_failure(with_frame(now))
    assert not with_frame(one.replace("GT", "Add")).same_failure(with_frame(now))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("tvm::relax::(anonymous namespace)::Fold(tvm::Expr)", "tvm::relax::Fold"),
        ("float onnxruntime::{anonymous}::GetRatio(const onnxruntime::Tensor*)", "onnxruntime::GetRatio"),
        ("void tvm::codegen::CodeGenC::VisitExpr_(const CallNode*, std::ostream&)", "tvm::codegen::CodeGenC::Visit_"),
        ("void tvm::codegen::CodeGenC::Dispatch_(const CallNode*, std::ostream&)", "tvm::codegen::CodeGenC::Visit_"),
        ("tvm::StructInfo tvm::relax::InferStructInfoConv2d(const Call&)", "tvm::relax::InferTypeConv2d"),
        ("llvm::Value* tvm::codegen::CodeGenLLVM::CreateSub(T)", "tvm::codegen::CodeGenLLVM::CreateArithmetic"),
        ("llvm::Value* tvm::codegen::CodeGenLLVM::CreateGE(T)", "tvm::codegen::CodeGenLLVM::CreateComparison"),
        ("llvm::Value* tvm::codegen::CodeGenLLVM::CreateCast(T)", "tvm::codegen::CodeGenLLVM::CreateCast"),
        ("tvm::relax::Build(int)::{lambda(tvm::Expr)#3}::operator()(tvm::Expr) const", "tvm::relax::Build"),
    ],
)
def test_plain_function(function: str, name: str) -> None:
    assert plain_function(function) == name
