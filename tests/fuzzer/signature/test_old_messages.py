"""What TVM 0.17 says: the traceback of its C++ stands in the message."""

from __future__ import annotations

import pytest

from fuzzer.findings.headline import headline
from fuzzer.lanes import RELAY_ROUTES
from fuzzer.signature import classify_failure, failure_location, frames_of, missing_features, readable, signature_of
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Frame, Raised, Stage, Unsupported

TYPES = """Traceback (most recent call last):
  4: tvm::runtime::PackedFuncObj::Extractor<tvm::runtime::PackedFuncSubObj<int> >::Call(tvm::runtime::TVMArgs)
  3: tvm::transform::Pass::operator()(tvm::IRModule) const
  2: _ZN3tvm7runtime13PackedFuncObj
  1: tvm::relay::DynamicToStaticMutator::PrepareInput(tvm::RelayExpr const&)
  0: tvm::ReportAt(tvm::DiagnosticContext const&, std::ostream&, tvm::Span const&, tvm::Diagnostic const&)
  File "/build/tvm/src/ir/diagnostic.cc", line 264
TVMError: The source maps are not populated for this module. Please use `x` to attach source maps for error reporting.
Error: The Relay type checker is unable to show the following types match:
  Tensor[(13, 13, 1, 1, 1), float32]
In particular:
  dimension 1 conflicts: 13 does not match 1."""

PYTHON = (
    Frame("/venv/tvm/relay/frontend/onnx.py", 7238, "from_onnx"),
    Frame("/venv/tvm/ir/transform.py", 238, "__call__"),
    Frame("/venv/tvm/_ffi/_ctypes/packed_func.py", 239, "__call__"),
    Frame("/venv/tvm/_ffi/base.py", 481, "raise_last_ffi_error", raises=True),
)


def test_a_message_without_its_traceback() -> None:
    assert readable(TYPES).split("\n")[0] == "The Relay type checker is unable to show the following types match:"
    assert readable("Traceback (most recent call last):\nnothing set in") == "nothing set in"
    assert readable("a Traceback (most recent call last):\n  0: f()\nE: x") == (
        "a Traceback (most recent call last):\n  0: f()\nE: x"
    )


def test_the_functions_of_a_traceback() -> None:
    raised = Raised(Stage.IMPORT, "tvm._ffi.base.TVMError", TYPES, PYTHON)
    assert [frame.function.split("(")[0] for frame in frames_of(raised)[len(PYTHON) :]] == [
        "tvm::relay::DynamicToStaticMutator::PrepareInput"
    ]
    assert frames_of(raised)[-1] == Frame(
        "", 0, "tvm::relay::DynamicToStaticMutator::PrepareInput(tvm::RelayExpr const&)"
    )
    assert failure_location(frames_of(raised)) == "tvm::relay::DynamicToStaticMutator::PrepareInput"


def test_its_identity() -> None:
    raised = Raised(Stage.IMPORT, "tvm._ffi.base.TVMError", TYPES, PYTHON)
    finding = Finding(Kind.INTERNAL_ERROR, Component.TVM, RELAY_ROUTES[1], Stage.IMPORT, raised)
    found = signature_of(finding)
    assert found.skeleton == (
        "The Relay type checker is unable to show the following types match: TENSOR In particular: "
        "dimension N conflicts: N does not match N."
    )
    assert found.frame == "tvm::relay::DynamicToStaticMutator::PrepareInput"
    assert headline(finding) == (
        "relay-onnx-O2 refuses a valid PyTorch model in its import step: tvm._ffi.base.TVMError: "
        "The Relay type checker is unable to show the following types match:"
    )


@pytest.mark.parametrize(
    ("type", "message", "lacks"),
    [
        (
            "NotImplementedError",
            "The following operators are not implemented: ['aten::trunc', 'aten::eye']",
            ("aten::eye", "aten::trunc"),
        ),
        ("AssertionError", "Only 3D or 4D key supported", ("Only ND or ND key supported",)),
        (
            "tvm.error.OpNotImplemented",
            "The following operators are not supported for frontend ONNX: Bernoulli",
            ("Bernoulli",),
        ),
    ],
)
def test_what_relay_does_not_do(type: str, message: str, lacks: tuple[str, ...]) -> None:
    outcome = classify_failure(Raised(Stage.IMPORT, type, message))
    assert isinstance(outcome, Unsupported)
    assert missing_features(outcome) == lacks
