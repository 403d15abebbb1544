"""The file of a case of ONNX at another opset, by onnx.version_converter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from fuzzer.lanes.onnx.witnesses import by_onnxruntime
from generators.graph import Array

CLOSE = 1e-2
"""How far the results of the converted file may be from those of the file, relative to the largest number. It tells
other functions from other kernels; the oracles judge TVM by the case's own tolerance."""


class NotConvertible(NotImplementedError):
    """The converter has no way from one opset to the other, or what it writes is another function."""


def converted(model: onnx.ModelProto, opset: int, inputs: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the model at the opset. Raise `NotConvertible` where onnxruntime does not read it as the same function:
    then TVM cannot be blamed for what it makes of it."""
    try:
        made = onnx.version_converter.convert_version(model, opset)
        before, after = by_onnxruntime(model, inputs), by_onnxruntime(made, inputs)
    except Exception as error:  # the converter raises RuntimeError, and onnxruntime refuses what it cannot read
        raise NotConvertible(f"onnx.version_converter: to opset {opset}: {type(error).__name__}") from error
    if not all(map(_alike, before, after)):
        raise NotConvertible(f"onnx.version_converter: to opset {opset}: the file is another function")
    return made


def _alike(one: Array, other: Array) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    a, b = one.astype(np.float64), other.astype(np.float64)
    largest = float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))
    return bool(np.allclose(a, b, rtol=0.0, atol=CLOSE * largest, equal_nan=True))
