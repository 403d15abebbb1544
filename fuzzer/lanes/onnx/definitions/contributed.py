"""Operators of com.microsoft."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from generators.graph import Array


class MatMulInteger16(OpRun):  # type: ignore[misc]
    """The product of two matrices of int16, as numpy.matmul. The sums have 32 bits."""

    op_domain = "com.microsoft"

    def _run(self, a: Array, b: Array) -> tuple[Any, ...]:
        return (np.matmul(a.astype(np.int32), b.astype(np.int32)),)


DEFINITIONS: tuple[type[OpRun], ...] = (MatMulInteger16,)
