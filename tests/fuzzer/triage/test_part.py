"""Which part of TVM raised, by the files of tracebacks of TVM 0.27."""

from __future__ import annotations

import pytest

from fuzzer.triage.part import part_of
from oracles.outcome import Frame

FFI = Frame("python/tvm_ffi/cython/function.pxi", 1, "tvm_ffi.core.Function.__call__")
IMPORTER = Frame("tvm/relax/frontend/onnx/onnx_frontend.py", 1, "_convert_operator", owner="ONNXGraphImporter")
SOFTMAX = Frame("tvm/relax/frontend/onnx/onnx_frontend.py", 1, "_impl_v1", owner="Softmax")
RESHAPE = Frame("tvm/relax/op/manipulate.py", 1, "reshape")
LEGALIZE = Frame("tvm/relax/transform/legalize_ops/manipulate.py", 1, "_split")
CLIP = Frame("tvm/relax/transform/legalize_ops/common.py", 1, "<lambda>")
TOPI = Frame("/project/include/tvm/topi/transform.h", 1, "tvm::ffi::Array<tvm::te::Tensor> tvm::topi::split(const T&)")
LAYOUT = Frame(
    "/project/src/relax/transform/convert_layout.cc",
    1,
    "tvm::relax::LayoutConvertMutator::VisitBinding_(const tvm::relax::VarBindingNode*)",
)
STEP = Frame("<ScriptRoundTrip>", 1, "<module>")
CONST = Frame("tvm/relax/expr.py", 1, "const")
CODEGEN = Frame("/project/src/target/source/codegen_c.cc", 1, "virtual void tvm::codegen::CodeGenC::Dispatch_(int)")
SORT = Frame("/project/src/runtime/contrib/sort/sort.cc", 1, "RegisterArgsort")


@pytest.mark.parametrize(
    ("frames", "part"),
    [
        ((IMPORTER, SOFTMAX, RESHAPE, FFI), "frontend: Softmax._impl_v1 in onnx_frontend.py"),
        ((IMPORTER, FFI), "frontend: ONNXGraphImporter._convert_operator in onnx_frontend.py"),
        ((LEGALIZE, FFI, TOPI), "legalization: split in transform.h"),
        ((CLIP, FFI), "legalization: <lambda> in common.py"),
        ((FFI, LAYOUT), "pass: VisitBinding_ in convert_layout.cc"),
        ((STEP, FFI, CONST), "pass: ScriptRoundTrip"),
        ((FFI, CODEGEN), "codegen: Dispatch_ in codegen_c.cc"),
        ((FFI, SORT), "runtime: RegisterArgsort in sort.cc"),
        ((Frame("<case>", 1, "forward"), FFI), ""),
        ((), ""),
    ],
)
def test_the_innermost_function_of_the_first_part(frames: tuple[Frame, ...], part: str) -> None:
    assert part_of(frames) == part
