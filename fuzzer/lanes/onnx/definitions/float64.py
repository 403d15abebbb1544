"""Functions that the interpreter of the onnx package computes in float32, whatever the dtype of the operand."""

from __future__ import annotations

import math

import numpy as np
from onnx.reference.op_run import OpRun

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


DEFINITIONS: tuple[type[OpRun], ...] = (Erf, Gelu)
