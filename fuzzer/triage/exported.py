"""The ONNX file of a finding. It is saved with the finding, so that a script can rebuild it without PyTorch."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.lanes import ONNXRUNTIME
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case, Invalid
from generators.onnx.model import OnnxModel, decode
from oracles.finding import Component, Finding
from oracles.lane import Engine, LaneSpec, is_relay, returns_gradients
from oracles.outcome import Ran


def read_by_tvm(finding: Finding) -> bool:
    """Return whether the finding is a fault of TVM on a lane that imports an ONNX file."""
    lane = finding.lane
    imports_file = (
        lane.engine is Engine.TVM and lane.importer.is_onnx and not (is_relay(lane) or returns_gradients(lane))
    )
    return imports_file and finding.component is Component.TVM


def onnx_file(run: RunLanes, case: Case, lane: LaneSpec) -> OnnxModel | None:
    """Return the ONNX file that the lane imports, or None if it cannot be described or onnxruntime does not run it."""
    file = LaneSpec("onnx-file", Engine.ONNX_FILE, lane.importer, opset=lane.opset, toolchain=lane.toolchain)
    reference = replace(ONNXRUNTIME, importer=lane.importer, opset=lane.opset)
    outcomes = run(case, (file, reference)).outcomes
    match outcomes[file], outcomes[reference]:
        case Ran(outputs=(data,)), Ran():
            try:
                return decode(data.tobytes(), "the exported file")
            except Invalid:  # the child was damaged; the report leaves the file out
                return None
        case _:
            return None
