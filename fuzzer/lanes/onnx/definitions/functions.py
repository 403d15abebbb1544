"""Definitions of operators that the interpreter of the onnx package lacks or has for newer versions only.

The operators of com.microsoft follow onnxruntime's documentation (docs/ContribOperators.md).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array

Arrays = tuple[Array, ...]


class FastGelu(OpRun):  # type: ignore[misc]
    """Gelu by tanh, of the input or of its sum with the bias, which has the size of the last dimension."""

    op_domain = "com.microsoft"

    def _run(self, x: Array, bias: Array | None = None) -> Arrays:
        total = wide(x) if bias is None else wide(x) + wide(bias)
        inner = math.sqrt(2 / math.pi) * (total + 0.044715 * total * total * total)
        return ((0.5 * total * (1 + np.tanh(inner))).astype(x.dtype),)


class BiasGelu(OpRun):  # type: ignore[misc]
    """Gelu by erf of the sum of both inputs; the second has the size of the last dimension."""

    op_domain = "com.microsoft"

    def _run(self, x: Array, bias: Array) -> Arrays:
        total = wide(x) + wide(bias)
        erf = np.vectorize(math.erf, otypes=[total.dtype])(total / math.sqrt(2))
        return ((0.5 * total * (1 + erf)).astype(x.dtype),)


class _OfVersion(OpRun):  # type: ignore[misc]
    """An operator with the defaults of the version that is in force: the interpreter has those of the newest one.
    Before opset 13 the softmax family saw a matrix, whose rows were all numbers from the axis on."""

    def __init__(self, node: onnx.NodeProto, parameters: dict[str, Any]) -> None:
        self._version = onnx.defs.get_schema(node.op_type, parameters["opsets"][""], "")
        super().__init__(node, parameters, self._version)

    def _rows(self, x: Array, axis: int) -> Array:
        """The operand, with the numbers that belong together along the last dimension."""
        if self._version.since_version >= 13:
            return np.moveaxis(wide(x), axis, -1)
        axis %= x.ndim
        return wide(x).reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))

    def _like(self, rows: Array, x: Array, axis: int) -> Arrays:
        """The result in the operand's type, from such rows."""
        whole = np.moveaxis(rows, -1, axis) if self._version.since_version >= 13 else rows.reshape(x.shape)
        return (whole.astype(x.dtype),)


class Softmax(_OfVersion):
    def _run(self, x: Array, axis: int) -> Arrays:
        rows = np.exp(_shifted(self._rows(x, axis)))
        return self._like(rows / rows.sum(-1, keepdims=True), x, axis)


class LogSoftmax(_OfVersion):
    def _run(self, x: Array, axis: int) -> Arrays:
        rows = _shifted(self._rows(x, axis))
        return self._like(rows - np.log(np.exp(rows).sum(-1, keepdims=True)), x, axis)


class Hardmax(_OfVersion):
    def _run(self, x: Array, axis: int) -> Arrays:
        rows = self._rows(x, axis)
        hard = np.zeros_like(rows)
        if rows.size:
            np.put_along_axis(hard, rows.argmax(-1, keepdims=True), 1, -1)
        return self._like(hard, x, axis)


def _shifted(rows: Array) -> Array:
    """The differences to the largest number of each row."""
    return rows - rows.max(-1, keepdims=True, initial=-np.inf) if rows.size else rows


class Mean(OpRun):  # type: ignore[misc]
    """The mean of operands that broadcast. The interpreter needs the largest one first."""

    def _run(self, *operands: Array) -> Arrays:
        total = sum((wide(each) for each in operands[1:]), wide(operands[0]))
        return (np.asarray(total / len(operands)).astype(operands[0].dtype),)


DEFINITIONS: list[Any] = [FastGelu, BiasGelu, Softmax, LogSoftmax, Hardmax, Mean]
