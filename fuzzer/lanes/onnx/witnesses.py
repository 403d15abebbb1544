"""The readers of a case of ONNX that decide what is right: onnxruntime without optimisers, and the interpreter of the
onnx package."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from fuzzer.lanes.base.step import Quiet, Step
from fuzzer.lanes.onnx import session as sessions
from fuzzer.lanes.onnx.interpreter import Interpreter
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.onnx.session import NO_OPTIMISERS
from fuzzer.lanes.onnx.silent_onnxruntime import ort
from fuzzer.lanes.onnx.widened import attributes_of, widened, widened_inputs
from generators.graph import Array, Case, DType
from generators.onnx.operator import DTYPE_ATTRIBUTES
from generators.onnx.source import File, render
from oracles.outcome import Stage


def file_of(case: Case) -> File:
    """The file of a case at its own sizes."""
    return render(case.bound, case.tensors)


def by_onnxruntime(
    model: onnx.ModelProto,
    inputs: Mapping[str, Array],
    level: ort.GraphOptimizationLevel = NO_OPTIMISERS,
    step: Step = Quiet(),
) -> tuple[Array, ...]:
    """The results of onnxruntime, in the dtypes of the file. It has next to no kernels for bfloat16: it computes these
    in float32, and the results are rounded."""
    wide = _has_bfloat16(model)
    session = sessions.load(widened(model) if wide else model, level)
    step(Stage.RUN)
    outputs = sessions.run(session, widened_inputs(inputs) if wide else inputs)
    dtypes = [item.type.tensor_type.elem_type for item in model.graph.output]
    half = onnx.TensorProto.BFLOAT16
    return tuple(
        array.astype(DType.BFLOAT16.numpy) if dtype == half and array.dtype == np.float32 else array
        for array, dtype in zip(outputs, dtypes, strict=True)
    )


def by_interpreter(model: onnx.ModelProto, inputs: Mapping[str, Array], step: Step = Quiet()) -> tuple[Array, ...]:
    interpreter = Interpreter(model)
    step(Stage.RUN)
    return tuple(np.asarray(array) for array in interpreter.run(None, dict(inputs)))


def _has_bfloat16(model: onnx.ModelProto) -> bool:
    return onnx.TensorProto.BFLOAT16 in _element_types(model)


def _element_types(model: onnx.ModelProto) -> set[int]:
    found = {item.type.tensor_type.elem_type for item in (*model.graph.input, *model.graph.output)}
    found |= {item.data_type for item in model.graph.initializer}
    for each in attributes_of(model):
        if each.type == onnx.AttributeProto.TENSOR:
            found.add(each.t.data_type)
        elif each.name in DTYPE_ATTRIBUTES:
            found.add(each.i)
    return found


__all__ = ["by_interpreter", "by_onnxruntime", "file_of", "to_proto"]
