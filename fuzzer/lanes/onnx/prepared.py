"""The work on a case of ONNX before TVM: its file, given or rendered, at an opset, and its nodes in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.onnx.given import given_file
from fuzzer.lanes.onnx.proto import to_proto
from generators.onnx.source import render
from oracles.outcome import Stage

if TYPE_CHECKING:
    import onnx

    from fuzzer.lanes.envelope.devices import Accuracy
    from fuzzer.lanes.envelope.program import Program


def file_of_case(prepared: PreparedCase, opset: int | None) -> bytes:
    """The file of the case, at this opset."""
    prepared.step(Stage.RENDER)
    case = prepared.case
    if case.given is not None:
        model = given_file(case, open_sizes=False)
    else:
        model = to_proto(render(case.bound, case.tensors).model)
    if opset is not None and opset != case.graph.opset:
        from fuzzer.lanes.onnx.converted import converted  # asks onnxruntime, which other toolchains have not

        prepared.step(Stage.VERIFY)
        model = converted(model, opset, prepared.inputs)
    written: bytes = model.SerializeToString()
    return written


def file_with_open_sizes(prepared: PreparedCase) -> onnx.ModelProto:
    """The file with names for its symbolic dimensions."""
    if prepared.case.given is not None:
        return given_file(prepared.case, open_sizes=True)
    return to_proto(render(prepared.case.graph, prepared.case.tensors).model)


def program_of(prepared: PreparedCase, accuracy: Accuracy | None = None) -> Program:
    """The nodes of the case in float64. Every run begins with the numbers of the case. `accuracy`: what a device
    permits."""
    from fuzzer.lanes.envelope.program import Program  # needs PyTorch, which other toolchains may not have
    from fuzzer.lanes.onnx.kernel import ONNX

    if accuracy is not None:
        return Program(prepared.case, ONNX, accuracy)
    return prepared.once("onnx_program", lambda: Program(prepared.case, ONNX))
