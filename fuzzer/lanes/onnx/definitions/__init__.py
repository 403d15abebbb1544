"""Definitions of operators that the interpreter of the onnx package lacks, refuses in legal calls, or computes wrongly.

Each follows the documentation of onnx (Operators.md, Changelog.md), those of com.microsoft that of onnxruntime
(ContribOperators.md).
"""

from typing import Any

from fuzzer.lanes.onnx.definitions import (
    attention,
    contributed,
    conv,
    float64,
    functions,
    norm,
    pool,
    quantize,
    resize,
    sequence,
    shapes,
    sums,
    vision,
)

DEFINITIONS: tuple[Any, ...] = (
    *float64.DEFINITIONS,
    *attention.DEFINITIONS,
    *contributed.DEFINITIONS,
    *conv.DEFINITIONS,
    *functions.DEFINITIONS,
    *norm.DEFINITIONS,
    *pool.DEFINITIONS,
    *quantize.DEFINITIONS,
    *resize.DEFINITIONS,
    *sequence.DEFINITIONS,
    *shapes.DEFINITIONS,
    *sums.DEFINITIONS,
    *vision.DEFINITIONS,
)
