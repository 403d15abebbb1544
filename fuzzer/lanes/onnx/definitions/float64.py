"""Functions that the interpreter of the onnx package computes in float32, or refuses, where the operand is float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64)))


class Erf(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(self, x: Array) -> tuple[Array]:
        return (_erf(x).astype(x.dtype),)


class Gelu(OpRun):  # type: ignore[misc]
    """The formulas of onnx's Operators.md: by erf, or approximated by tanh."""

    op_domain = ""

    def _run(self, x: Array, approximate: str = "none") -> tuple[Array]:
        wide = x.astype(np.float64)
        if approximate == "tanh":
            inner = np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))
        else:
            inner = _erf(wide / math.sqrt(2))
        return ((0.5 * wide * (1 + inner)).astype(x.dtype),)


class MeanVarianceNormalization(OpRun):  # type: ignore[misc]
    """The function of onnx's Operators.md, whose constants are float32."""

    op_domain = ""

    def _run(self, x: Array, axes: Sequence[int] = (0, 2, 3)) -> tuple[Array]:
        data, over = wide(x), tuple(axes)
        centred = data - data.mean(over, keepdims=True)
        return ((centred / (np.sqrt((centred**2).mean(over, keepdims=True)) + 1e-9)).astype(x.dtype),)


class DynamicQuantizeLinear(OpRun):  # type: ignore[misc]
    """The formulas of onnx's Operators.md, for uint8. It says that the scale is float32: a symmetric range has its zero
    point at 127.5, and how the scale is rounded decides for one side."""

    op_domain = ""

    def _run(self, x: Array) -> tuple[Array, ...]:
        data = x.astype(np.float32)
        zero = np.rint(np.clip(-data.min(initial=0) / _scale(data), 0, 255))
        quantised = np.clip(np.rint(data / _scale(data)) + zero, 0, 255)
        return quantised.astype(np.uint8), np.asarray(_scale(x)), np.asarray(zero.astype(np.uint8))


def _scale(x: Array) -> Array:
    """The range of the numbers and 0, in 255 steps; 1 / 255 where all numbers are 0, and where there are none."""
    span = x.max(initial=0) - x.min(initial=0)
    return np.asarray((span if span > 0 else x.dtype.type(1)) / x.dtype.type(255))


DEFINITIONS: tuple[type[OpRun], ...] = (Erf, Gelu, MeanVarianceNormalization, DynamicQuantizeLinear)
