"""The file of a case of ONNX at another opset, by onnx.version_converter."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np
import onnx

from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.onnx.session import ERRORS
from fuzzer.lanes.onnx.witnesses import by_onnxruntime
from generators.graph import Array, holds_floats

CLOSE = 1e-2
"""How far a float of the converted file may be from that of the file, relative to it. It tells other functions from
other kernels; the oracles judge TVM by the case's own tolerance."""
UNITS = 8
"""Or how many units of the largest number: numbers that nearly cancel are further apart."""


class NotConvertible(CompilerError):
    """The converter has no way from one opset to the other, or what it writes is another function. The outcome is
    `Unsupported` (`fuzzer/signature/refusals.py`)."""


def converted(model: onnx.ModelProto, opset: int, inputs: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the model at the opset. Raise `NotConvertible` where onnxruntime does not read it as the same function:
    then TVM cannot be blamed for what it makes of it."""
    try:
        made = onnx.version_converter.convert_version(model, opset)
    except RuntimeError as error:
        raise _refused(opset, error) from error
    before = by_onnxruntime(model, inputs)
    try:
        after = by_onnxruntime(made, inputs)
    except ERRORS as error:
        raise _refused(opset, error) from error
    if not all(map(_alike, before, after)):
        raise NotConvertible(f"onnx.version_converter: to opset {opset}: the file is another function")
    return made


def _refused(opset: int, error: Exception) -> NotConvertible:
    return NotConvertible(f"onnx.version_converter: to opset {opset}: {type(error).__name__}")


def _alike(one: Array, other: Array) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not holds_floats(one):
        return np.array_equal(one, other)
    a, b = one.astype(np.float64), other.astype(np.float64)
    largest = float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))
    unit = float(ml_dtypes.finfo(one.dtype).eps) * largest
    return bool(np.allclose(b, a, rtol=CLOSE, atol=UNITS * unit, equal_nan=True))
