"""Say why onnxruntime refuses an ONNX file: `python -m fuzzer.children.onnx_refusal FILE PARENT`, which prints JSON.

onnxruntime checks a file in C++. It does so in this child process, under limits of memory and CPU time. It gets no
large weights, and nothing is computed. Tensors that are stored in other files are never opened.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import onnxruntime

from fuzzer.children.onnx_reader import CPU_SECONDS, MEMORY_BYTES, Unreadable, loaded, tensors_of, without_weights
from fuzzer.seeds.bounded_child import limit_child
from fuzzer.seeds.onnx_graph import Refusal

INVALID = re.compile(r"This is an invalid model|Type Error|\[(Shape|Type)InferenceError\]")
"""What onnxruntime says of a file that breaks a rule of ONNX. It also refuses files for reasons of its own, such as an
operator or an element type that it has no kernel for: these may be valid."""

UNKNOWN = re.compile(r"No Op registered for|is not a registered function/op")
"""What it says of an operator that it does not know, and TVM may know."""

INTRODUCTION = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |This is an invalid model\. ")


def refusal(path: Path) -> str:
    """Why the file is invalid, in one line; "" where onnxruntime does not say that it is."""
    model = without_weights(loaded(path))
    if any(tensor.external_data for tensor in tensors_of(model.graph)):  # onnxruntime would open the file
        return ""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes are in a module of C++ without type stubs
        message = " ".join(str(error).split())
        if INVALID.search(message) and not UNKNOWN.search(message):
            return INTRODUCTION.sub("", message)
    return ""


def main() -> None:
    with limit_child(int(sys.argv[2]), MEMORY_BYTES, CPU_SECONDS) as answers:
        try:
            found = refusal(Path(sys.argv[1]))
        except Unreadable:  # the reader says so
            found = ""
        answers.write(msgspec.json.encode(Refusal(found)))


if __name__ == "__main__":
    main()
