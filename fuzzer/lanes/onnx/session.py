"""Sessions of onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import onnx

from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.onnx.all_tensors import nodes_of
from fuzzer.lanes.onnx.silent_onnxruntime import ort, states
from generators.graph import Array

WRONG = ("MatMulScaleFusion", "MatmulTransposeFusion", "ExpandElimination", "QDQPropagationTransformer")
"""Optimisers of onnxruntime 1.31 that are wrong, and switched off. The first two make a FusedMatMul, which stores a
float64 factor as float32 and does not transpose the matrix of a product with a vector. ExpandElimination removes an
Expand to a shape without elements. The last one quantises the result of a DequantizeLinear of int32 as uint8."""

ERRORS = tuple(each for each in vars(states).values() if isinstance(each, type) and issubclass(each, Exception))
"""What onnxruntime raises. They have no base class of their own."""

LAGS = re.compile(
    r"Unsupported model IR version|ONNX Runtime only \*guarantees\* support|Unrecognized attribute"
    r"|is not a registered function/op|No Op registered for"
)
"""What onnxruntime says of a file that is newer than it: a version of the format, an opset, an attribute, an operator.
It says the last two of invalid files too."""


LACKS = re.compile(r"inconsistent total_sequence_length \(between attn_mask[^)]*\)")
"""What onnxruntime says of legal inputs that it does not take. The mask of Attention may be shorter than the keys: "The
last dimension can also be shorter than `total_sequence_length` and will be padded" (ONNX, Attention-24, attn_mask)."""


class NotKnown(CompilerError):
    """onnxruntime does not know what the file has: it is newer than onnxruntime, of a domain that it lacks, or has
    inputs that ONNX permits and onnxruntime does not."""


NO_KERNEL: tuple[type[Exception], ...] = (NotKnown, states.NotImplemented)
"""What says nothing about a file, but that onnxruntime does not run it."""

NO_OPTIMISERS = ort.GraphOptimizationLevel.ORT_DISABLE_ALL


def load(model: onnx.ModelProto, level: ort.GraphOptimizationLevel = NO_OPTIMISERS) -> ort.InferenceSession:
    """Raise `NotKnown` for a file that is newer than onnxruntime."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = level
    try:
        return ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=WRONG
        )
    except ERRORS as error:
        if lags(str(error), model):
            raise NotKnown(_shortened(str(error))) from None
        raise


def lags(message: str, model: onnx.ModelProto) -> bool:
    """Whether what onnxruntime says of a file is that it does not know something, or is about an operator that the file
    does not have: a part of a function that onnxruntime has in its place."""
    named = re.search(r"Optype \((\w+)\)", message)
    is_inside = named is not None and named[1] not in {node.op_type for node in nodes_of(model.graph)}
    return is_inside or LAGS.search(message) is not None


def _shortened(message: str) -> str:
    """What onnxruntime says, without its introduction and the function of C++ that says it."""
    return re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (\S*\.(cc|h):\d+ .*?\) )?", "", " ".join(message.split()))


def run(session: ort.InferenceSession, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """Run on copies of the inputs, because BatchNormalization in training mode overwrites its running mean. Raise
    `NotKnown` for legal inputs that onnxruntime does not take."""
    wanted = {item.name for item in session.get_inputs()}
    try:
        return tuple(session.run(None, {name: np.array(array) for name, array in inputs.items() if name in wanted}))
    except ERRORS as error:
        if limit := LACKS.search(str(error)):
            raise NotKnown(limit[0]) from None
        raise
