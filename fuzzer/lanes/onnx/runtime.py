"""onnxruntime on the exported file: the reference that decides whether the file or its reader is wrong."""

from __future__ import annotations

from fuzzer.cases import open_sizes
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.onnx.held_ends import with_held_ends
from fuzzer.lanes.onnx.imported_file import file_of_lane
from fuzzer.lanes.onnx.session import NO_OPTIMISERS, load, run
from fuzzer.lanes.onnx.silent_onnxruntime import ort
from generators.graph import Case, DType
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


class OnnxRuntimeLane:
    """onnxruntime at one of its optimisation levels. The reference optimises nothing."""

    def __init__(self, level: ort.GraphOptimizationLevel = NO_OPTIMISERS) -> None:
        self._level = level

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.symbolic and (reason := open_sizes.why_not(case)):
            return reason
        types = [item.value.type for item in case.graph.inputs if not item.role.is_owned]
        half = any(type.dtype is DType.BFLOAT16 for type in (*types, *case.graph.output_types))
        return "onnxruntime neither accepts nor returns numpy arrays of bfloat16" if half else None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        model, inputs = with_held_ends(file_of_lane(prepared, spec), prepared.inputs)
        step(Stage.LOAD)
        session = load(model, self._level)
        step(Stage.RUN)
        return Ran(run(session, inputs))
