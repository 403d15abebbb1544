"""The ONNX file of a finding, fetched once, when it is saved: a report builds it again, and nobody needs PyTorch."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.cases.onnx_model import OnnxModel, decode
from fuzzer.lanes import ONNXRUNTIME
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case, Invalid
from oracles.finding import Component, Finding
from oracles.lane import Engine, LaneSpec, is_relay, returns_gradients
from oracles.outcome import Ran


def read_by_tvm(finding: Finding) -> bool:
    """Whether TVM, and nobody before it, is to blame for what it makes of an ONNX file."""
    lane = finding.lane
    plain = lane.engine is Engine.TVM and lane.importer.is_onnx and not (is_relay(lane) or returns_gradients(lane))
    return plain and finding.component is Component.TVM


def onnx_file(run: RunLanes, case: Case, lane: LaneSpec) -> OnnxModel | None:
    """What the lane reads; None where that has no description, or where onnxruntime does not run it."""
    file = LaneSpec("onnx-file", Engine.ONNX_FILE, lane.importer, opset=lane.opset, toolchain=lane.toolchain)
    right = replace(ONNXRUNTIME, importer=lane.importer, opset=lane.opset)
    outcomes = run(case, (file, right)).outcomes
    match outcomes[file], outcomes[right]:
        case Ran(outputs=(data,)), Ran():
            try:
                return decode(data.tobytes(), "the exported file")
            except Invalid:  # a child that was damaged: the report does without
                return None
        case _:
            return None
