"""The ONNX file of a finding: an exported or a given one. It is saved with the finding, so that a script can rebuild it
without PyTorch."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import ONNXRUNTIME
from generators.dialect import dialect_named
from generators.graph import Case, Invalid
from generators.onnx.model import OnnxModel, decode
from oracles.finding import Component, Finding
from oracles.lane import Engine, LaneSpec, is_relay, returns_gradients
from oracles.outcome import Outcome, Ran


def read_by_tvm(finding: Finding) -> bool:
    """Return whether the finding is a fault of TVM on a lane that imports an ONNX file."""
    lane = finding.lane
    imports_file = (
        lane.engine is Engine.TVM
        and lane.importer.row.reads.is_exported_file
        and not (is_relay(lane) or returns_gradients(lane))
    )
    return imports_file and finding.component is Component.TVM


def onnx_file(run: RunLanes, case: Case, lane: LaneSpec) -> OnnxModel | None:
    """Return the ONNX file that the lane imports, or None if it cannot be described or onnxruntime does not run it."""
    file = LaneSpec(
        "onnx-file", Engine.ONNX_FILE, lane.importer, opset=lane.opset, toolchain=lane.toolchain, symbolic=lane.symbolic
    )
    reference = replace(ONNXRUNTIME, importer=lane.importer, opset=lane.opset, symbolic=lane.symbolic)
    outcomes = run(case, (file, reference)).outcomes
    return _decoded(outcomes[file]) if isinstance(outcomes[reference], Ran) else None


def reads_given_file(case: Case, lane: LaneSpec) -> bool:
    """Return whether the lane imports the file that a person gave."""
    return case.given is not None and dialect_named(lane.dialect).is_file


def given_file(run: RunLanes, case: Case, lane: LaneSpec) -> OnnxModel | None:
    """Return the given file with the numbers of the case, or None if it cannot be described. A script converts it to
    the opset of the lane."""
    file = LaneSpec("onnx-file", Engine.ONNX_FILE, lane.importer, toolchain=lane.toolchain, symbolic=lane.symbolic)
    return _decoded(run(case, (file,)).outcomes[file])


def _decoded(outcome: Outcome) -> OnnxModel | None:
    """The file that the child sent; None where it sent none, or is damaged: the report leaves the file out."""
    match outcome:
        case Ran(outputs=(data,)):
            try:
                return decode(data.tobytes(), "the file of the finding")
            except Invalid:
                return None
        case _:
            return None
