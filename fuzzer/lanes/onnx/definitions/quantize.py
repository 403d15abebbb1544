"""DequantizeLinear, which onnx 1.23 lacks before version 19."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class DequantizeLinear(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self,
        x: Array,
        scale: Array,
        zero_point: Array | None = None,
        axis: int = 1,
        block_size: int = 0,
        output_dtype: int | None = None,
    ) -> tuple[Any, ...]:
        steps = _per_element(wide(scale), x, axis, block_size)
        zeros = 0 if zero_point is None else _per_element(zero_point.astype(np.int64), x, axis, block_size)
        return (((x.astype(np.int64) - zeros).astype(steps.dtype) * steps).astype(scale.dtype),)


def _per_element(grid: Array, x: Array, axis: int, block_size: int) -> Array:
    """The grid in a shape that broadcasts to that of x."""
    if grid.size == 1:
        return grid.reshape(())
    if block_size:
        return np.repeat(grid, block_size, axis).take(np.arange(x.shape[axis]), axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    return grid.reshape(shape)


DEFINITIONS: tuple[type[OpRun], ...] = (DequantizeLinear,)
