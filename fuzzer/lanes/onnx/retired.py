"""Operators that newer opsets replace, and that the interpreter of the onnx package therefore lacks."""

from __future__ import annotations

import onnx
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_scatter_elements import scatter_elements

from generators.graph import Array


class Scatter(OpRun):  # type: ignore[misc]
    """Scatter of opset 9 means what ScatterElements of opset 11 means (onnx's Changelog.md)."""

    op_domain = ""
    _schema = onnx.defs.get_schema("Scatter", 9)

    def _run(self, data: Array, indices: Array, updates: Array, axis: int = 0) -> tuple[Array, ...]:
        return (scatter_elements(data, indices, updates, axis=axis),)


RETIRED: tuple[type[OpRun], ...] = (Scatter,)
