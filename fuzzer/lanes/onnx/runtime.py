"""onnxruntime on the exported file: the reference that decides whether the file or its reader is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as states

from fuzzer.lanes.base.prepared_case import PreparedCase, Step
from generators.graph import Array, Case, DType
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

WRONG = ("MatMulScaleFusion", "MatmulTransposeFusion", "ExpandElimination", "QDQPropagationTransformer")
"""Optimisers of onnxruntime 1.31 that are wrong, and switched off. The first two make a FusedMatMul, which stores a
float64 factor as float32 and does not transpose the matrix of a product with a vector. ExpandElimination removes an
Expand to a shape without elements. The last one quantises the result of a DequantizeLinear of int32 as uint8."""

ERRORS = tuple(each for each in vars(states).values() if isinstance(each, type) and issubclass(each, Exception))
"""What onnxruntime raises. They have no base class of their own."""

NO_OPTIMISERS = ort.GraphOptimizationLevel.ORT_DISABLE_ALL


class OnnxRuntimeLane:
    """onnxruntime at one of its optimisation levels. The reference optimises nothing."""

    def __init__(self, level: ort.GraphOptimizationLevel = NO_OPTIMISERS) -> None:
        self._level = level

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        types = [item.value.type for item in case.graph.inputs if not item.role.is_owned]
        half = any(type.dtype is DType.BFLOAT16 for type in (*types, *case.graph.output_types))
        return "onnxruntime neither accepts nor returns numpy arrays of bfloat16" if half else None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        model = prepared.onnx_file(spec.importer, spec.opset)
        step(Stage.LOAD)
        session = load(model, self._level)
        step(Stage.RUN)
        return Ran(run(session, prepared.inputs))


def load(model: onnx.ModelProto, level: ort.GraphOptimizationLevel = NO_OPTIMISERS) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = level
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=WRONG
    )


def run(session: ort.InferenceSession, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """Run on copies of the inputs, because BatchNormalization in training mode overwrites its running mean."""
    wanted = {item.name for item in session.get_inputs()}
    return tuple(session.run(None, {name: np.array(array) for name, array in inputs.items() if name in wanted}))
