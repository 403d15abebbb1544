"""ONNX Runtime on the exported file: the reference that says whether the file or its reader is wrong."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort

from fuzzer.lanes.base import Bench, Step
from generators.graph import Case, DType
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

WRONG = ("MatMulScaleFusion", "MatmulTransposeFusion", "ExpandElimination")
"""Optimisers that are left out, as of onnxruntime 1.31. The first two make a FusedMatMul, which keeps a factor of
float64 in float32, and does not transpose what it multiplies by a vector. The last removes an Expand to no elements."""


class OnnxRuntimeLane:
    """At one of onnxruntime's optimisation levels; as the reference, at none."""

    def __init__(self, level: ort.GraphOptimizationLevel = ort.GraphOptimizationLevel.ORT_DISABLE_ALL) -> None:
        self._level = level

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        types = [item.value.type for item in case.graph.inputs if not item.role.is_owned]
        half = any(type.dtype is DType.BFLOAT16 for type in (*types, *case.graph.output_types))
        return "onnxruntime neither takes nor gives numpy arrays of bfloat16" if half else None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        model = bench.onnx_file(spec.importer, spec.opset)
        step(Stage.LOAD)
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.graph_optimization_level = self._level
        session = ort.InferenceSession(
            model.SerializeToString(),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=WRONG,
        )
        step(Stage.RUN)
        wanted = {item.name for item in session.get_inputs()}
        # copies: BatchNormalization in training mode writes the new running mean into the array that it was given
        return Ran(tuple(session.run(None, {k: np.array(v) for k, v in bench.inputs.items() if k in wanted})))
