"""Say why onnxruntime refuses an ONNX file: `python -m fuzzer.seeds.onnx.reader.refusal FILE PARENT`, which prints
JSON.

onnxruntime checks a file in C++. It does so in this child process, under limits of memory and CPU time. It gets no
large weights, and nothing is computed. Tensors that are stored in other files are never opened.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import onnx

from fuzzer.lanes.onnx.all_tensors import tensors_of
from fuzzer.lanes.onnx.session import lags
from fuzzer.lanes.onnx.silent_onnxruntime import ort
from fuzzer.seeds.bounded_child import limit_child, limits_of
from fuzzer.seeds.onnx.graph import Refusal
from fuzzer.seeds.onnx.reader.reader import Unreadable, loaded, without_weights

INVALID = re.compile(r"This is an invalid model|Type Error|\[(Shape|Type)InferenceError\]")
"""What onnxruntime says of a file that breaks a rule of ONNX. It also refuses files for reasons of its own, such as an
operator or an element type that it has no kernel for: these may be valid."""

UNKNOWN = re.compile(r"No Op registered for|is not a registered function/op")
"""What it says of an operator that it does not know, and TVM may know."""

UNTYPED = re.compile(r"Unrecognized type value case|Field 'type' of 'value_info'")
"""What the checker of the onnx package says of a result whose type the file does not say and nothing infers."""

INTRODUCTION = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |This is an invalid model\. ")


def refusal(path: Path) -> str:
    """Why the file is invalid, in one line; "" where onnxruntime does not say that it is."""
    model = without_weights(loaded(path))
    if any(tensor.external_data for tensor in tensors_of(model.graph)):  # onnxruntime would open the file
        return ""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes are in a module of C++ without type stubs
        message = " ".join(str(error).split())
        if lags(message, model):
            return _refusal_of_checker(model)
        if INVALID.search(message):
            return INTRODUCTION.sub("", message)
    return ""


def _refusal_of_checker(model: onnx.ModelProto) -> str:
    """Why the checker of the onnx package, which knows newer files than onnxruntime, refuses a file; "" for an operator
    that it does not know either."""
    try:  # of results without types, which the checker refuses, the types are inferred
        onnx.checker.check_model(onnx.shape_inference.infer_shapes(model), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        message = " ".join(str(error).split())
        return "" if UNKNOWN.search(message) or UNTYPED.search(message) else message
    return ""


def answer(path: Path) -> Refusal:
    try:
        return Refusal(refusal(path))
    except Unreadable:  # the reader says so
        return Refusal("")


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), limits_of(path)) as answers:
        answers.write(msgspec.json.encode(answer(path)))


if __name__ == "__main__":
    main()
