"""Poolings. onnx 1.23 gives MaxPool no indices where all strides are 1, pads dilated windows wrongly for auto_pad, adds
what ceil_mode lacks on both sides, averages in LpPool over the elements that are no padding, takes other dimensions in
GlobalMaxPool, and lacks GlobalLpPool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.legal import NotEvaluated
from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array

MOST_ELEMENTS = 1 << 24
"""The most elements of all windows together, of one image: their places take 25 bytes each."""


def _require_few(elements: int) -> None:
    """Raise `NotEvaluated` for windows that would take gigabytes: a kernel may be as large as a large tensor."""
    if elements > MOST_ELEMENTS:
        raise NotEvaluated(f"windows of {elements:,} elements, and of {MOST_ELEMENTS:,} at most")


class _Pool(OpRun):  # type: ignore[misc]
    op_domain = ""

    def windows(self, x: Array, attributes: dict[str, Any]) -> tuple[Array, Array, Array]:
        """The places of all windows, as three arrays whose shape is that of the result and then of the kernel: the flat
        index of each element in its image, whether it is in the image, and whether it is in the padded image."""
        sizes, kernel = x.shape[2:], attributes["kernel_shape"]
        axes = [self._along(size, axis, kernel, attributes) for axis, size in enumerate(sizes)]
        nd = len(sizes)
        _require_few(math.prod(positions.size for positions, *_ in axes))
        flat: Any = 0
        inside: Any = True
        padded: Any = True
        for axis, (positions, before, after) in enumerate(axes):
            shape = [1] * 2 * nd
            shape[axis], shape[nd + axis] = positions.shape
            at = positions.reshape(shape)
            flat = flat * sizes[axis] + at
            inside = inside & (at >= 0) & (at < sizes[axis])
            padded = padded & (at >= -before) & (at < sizes[axis] + after)
        return flat, inside, padded

    def _along(self, size: int, axis: int, kernel: Sequence[int], attributes: dict[str, Any]) -> tuple[Array, int, int]:
        """The positions of the elements of each window along an axis, and the padding before and after."""
        nd, length = len(kernel), kernel[axis]
        stride = (attributes.get("strides") or (1,) * nd)[axis]
        dilation = (attributes.get("dilations") or (1,) * nd)[axis]
        pads, auto_pad = attributes.get("pads") or (0,) * 2 * nd, attributes.get("auto_pad")
        before, after = pads[axis], pads[nd + axis]
        extent = dilation * (length - 1) + 1
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            count = -(-size // stride)
            total = max(0, (count - 1) * stride + extent - size)
            before = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            after = total - before
        else:
            span = size + before + after - extent
            count = (-(-span // stride) if attributes.get("ceil_mode") else span // stride) + 1
            if attributes.get("ceil_mode") and (count - 1) * stride >= size + before:
                count -= 1
        _require_few(count * length)
        positions = np.arange(count)[:, None] * stride + np.arange(length)[None] * dilation - before
        return positions, before, after

    def taken(self, x: Array, attributes: dict[str, Any], outside: float) -> tuple[Array, Array, Array, Array]:
        """The numbers of all windows [batch, channels, *result, elements], and the arrays of `windows` for them."""
        length = int(np.prod(attributes["kernel_shape"]))
        flat, inside, padded = (
            array.reshape(*array.shape[: x.ndim - 2], length) for array in self.windows(x, attributes)
        )
        images = wide(x).reshape(*x.shape[:2], int(np.prod(x.shape[2:])))
        numbers = images[:, :, np.where(inside, flat, 0)]
        return np.where(inside, numbers, np.asarray(outside, numbers.dtype)), flat, inside, padded


class MaxPool(_Pool):
    def _run(self, x: Array, storage_order: int = 0, **attributes: Any) -> tuple[Any, ...]:
        lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
        numbers, flat, inside, _ = self.taken(x, attributes, lowest)
        best = _first_largest(numbers, inside)
        found = np.take_along_axis(numbers, best[..., None], -1)[..., 0].astype(x.dtype)
        if len(self.output) == 1:
            return (found,)
        places = np.take_along_axis(np.broadcast_to(flat, numbers.shape), best[..., None], -1)[..., 0]
        sizes = x.shape[2:]
        if storage_order:
            places = np.ravel_multi_index(np.unravel_index(places, sizes)[::-1], sizes[::-1])
        image = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *(1,) * len(sizes))
        return found, (image * int(np.prod(sizes)) + places).astype(np.int64)


def _first_largest(numbers: Array, inside: Array) -> Array:
    """The first place of the largest number of each window, among those in the image; NaN is the largest."""
    inside = np.broadcast_to(inside, numbers.shape)
    largest = numbers.max(-1, keepdims=True)  # what is outside is not larger than any number
    there = inside & ((numbers == largest) | np.isnan(numbers))
    found: Array = np.argmax(there, -1)
    return found


class AveragePool(_Pool):
    def _run(self, x: Array, count_include_pad: int = 0, **attributes: Any) -> tuple[Any, ...]:
        numbers, _, inside, padded = self.taken(x, attributes, 0)
        return ((numbers.sum(-1) / (padded if count_include_pad else inside).sum(-1)).astype(x.dtype),)


class LpPool(_Pool):
    def _run(self, x: Array, p: int = 2, **attributes: Any) -> tuple[Any, ...]:
        numbers, *_ = self.taken(x, attributes, 0)
        return (((np.abs(numbers) ** p).sum(-1) ** (1 / p)).astype(x.dtype),)


class _GlobalPool(OpRun):  # type: ignore[misc]
    op_domain = ""

    def rows(self, x: Array) -> Array:
        """The numbers of each image in a row; a result has a dimension of size 1 for each of the image."""
        return wide(x).reshape(*x.shape[:2], *(1,) * (x.ndim - 2), int(np.prod(x.shape[2:])))


class GlobalMaxPool(_GlobalPool):
    def _run(self, x: Array) -> tuple[Any, ...]:
        return (self.rows(x).max(-1).astype(x.dtype),)


class GlobalAveragePool(_GlobalPool):
    def _run(self, x: Array) -> tuple[Any, ...]:
        return (self.rows(x).mean(-1).astype(x.dtype),)


class GlobalLpPool(_GlobalPool):
    def _run(self, x: Array, p: int = 2) -> tuple[Any, ...]:
        return (((np.abs(self.rows(x)) ** p).sum(-1) ** (1 / p)).astype(x.dtype),)


DEFINITIONS: tuple[type[OpRun], ...] = (MaxPool, AveragePool, LpPool, GlobalMaxPool, GlobalAveragePool, GlobalLpPool)
