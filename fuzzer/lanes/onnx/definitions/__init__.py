"""Definitions of operators that the interpreter of the onnx package lacks, refuses in legal calls, or computes wrongly.

Each follows the documentation of onnx (Operators.md, Changelog.md), those of com.microsoft that of onnxruntime
(ContribOperators.md).
"""

from typing import Any

from fuzzer.lanes.onnx.definitions import float64, functions, products, shapes

DEFINITIONS: tuple[Any, ...] = (
    *float64.DEFINITIONS,
    *functions.DEFINITIONS,
    *shapes.DEFINITIONS,
    *products.DEFINITIONS,
)
