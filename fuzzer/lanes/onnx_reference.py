"""Other readers of the exported ONNX file, asked where onnxruntime disagrees with PyTorch: a third opinion."""

from __future__ import annotations

import onnxruntime as ort
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.base import Bench, Step
from fuzzer.lanes.onnxruntime import OnnxRuntimeLane
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

_OPTIMISED = OnnxRuntimeLane(ort.GraphOptimizationLevel.ORT_ENABLE_ALL)


class OnnxReferenceLane:
    """`interpreter` is the onnx package's own, in plain numpy; `optimised` is onnxruntime with all its optimisers."""

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return _OPTIMISED.supports(case, spec)

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        if spec.variant == "optimised":
            return _OPTIMISED.run(bench, spec, step)
        model = bench.onnx_file(spec.importer, spec.opset)
        step(Stage.LOAD)
        interpreter = ReferenceEvaluator(model)
        step(Stage.RUN)
        inputs = {name: array for name, array in bench.inputs.items() if name in interpreter.input_names}
        return Ran(tuple(interpreter.run(None, inputs)))
