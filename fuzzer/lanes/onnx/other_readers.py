"""Other readers of the exported ONNX file. They decide whether the file or its first reader is wrong."""

from __future__ import annotations

import onnx
from onnx.reference import ReferenceEvaluator

from fuzzer.cases import open_sizes
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.onnx import session
from fuzzer.lanes.onnx.imported_file import file_of_lane
from fuzzer.lanes.onnx.runtime import OnnxRuntimeLane
from fuzzer.lanes.onnx.silent_onnxruntime import ort
from fuzzer.lanes.onnx.widened import widened, widened_inputs
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

_OPTIMISED = OnnxRuntimeLane(ort.GraphOptimizationLevel.ORT_ENABLE_ALL)


class OnnxReferenceLane:
    """The variant `interpreter` is the onnx package's reference evaluator, `optimised` is onnxruntime."""

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.variant == "optimised":
            return _OPTIMISED.supports(case, spec)
        return open_sizes.why_not(case) if spec.symbolic else None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        if spec.variant == "optimised":
            return _OPTIMISED.run(prepared, spec, step)
        model = file_of_lane(prepared, spec)
        step(Stage.LOAD)
        onnx.checker.check_model(model, full_check=True)
        interpreter = ReferenceEvaluator(model)
        step(Stage.RUN)
        _refuse_what_onnxruntime_refuses(prepared, model)
        inputs = {name: array for name, array in prepared.inputs.items() if name in interpreter.input_names}
        return Ran(tuple(interpreter.run(None, inputs)))


def _refuse_what_onnxruntime_refuses(prepared: PreparedCase, model: onnx.ModelProto) -> None:
    """Raise the exception that onnxruntime raises on the file.

    The interpreter accepts files that ONNX forbids, such as updates that are larger than their indices. That
    onnxruntime has no kernel, or does not know what the file has, is ignored: it says nothing about the file."""
    try:
        session.run(session.load(widened(model)), widened_inputs(prepared.inputs))
    except session.NO_KERNEL:
        return
