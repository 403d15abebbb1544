"""Transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class ConvTranspose(OpRun):  # type: ignore[misc]
    """onnx 1.23 splits neither the weight nor the bias into groups, ignores output_shape without auto_pad, and fails
    for an empty batch.
    An output_shape that is larger than what there is adds zeros at the end, as in onnx's own tests."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        auto_pad: str = "NOTSET",
        dilations: Sequence[int] | None = None,
        group: int = 1,
        kernel_shape: Sequence[int] | None = None,
        output_padding: Sequence[int] | None = None,
        output_shape: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> tuple[Any, ...]:
        nd, sizes, kernel = x.ndim - 2, x.shape[2:], w.shape[2:]
        steps, apart, extra = strides or (1,) * nd, dilations or (1,) * nd, output_padding or (0,) * nd
        whole = [
            s * (n - 1) + e + d * (k - 1) + 1 for n, k, s, d, e in zip(sizes, kernel, steps, apart, extra, strict=True)
        ]
        begin, end = list((pads or (0,) * 2 * nd)[:nd]), list((pads or (0,) * 2 * nd)[nd:])
        wanted = output_shape or ([n * s for n, s in zip(sizes, steps, strict=True)] if "SAME" in auto_pad else None)
        if wanted:
            cut = [max(total - size, 0) for total, size in zip(whole, wanted, strict=True)]
            begin = [c // 2 if auto_pad == "SAME_UPPER" else c - c // 2 for c in cut]
            end = [c - first for c, first in zip(cut, begin, strict=True)]
        parts, wide_x = [], wide(x)
        for images, weight in zip(np.split(wide_x, group, 1), np.split(wide(w), group, 0), strict=True):
            found = np.zeros((x.shape[0], w.shape[1], *whole), wide_x.dtype)
            for place in product(*map(range, kernel)):
                numbers = zip(place, apart, steps, sizes, strict=True)
                at: Any = (..., *(slice(p * d, p * d + s * (n - 1) + 1, s) for p, d, s, n in numbers))
                own: Any = (slice(None), slice(None), *place)
                found[at] += np.einsum("nc...,cm->nm...", images, weight[own])
            parts.append(found)
        inside: Any = (..., *(slice(f, n - e) for f, e, n in zip(begin, end, whole, strict=True)))
        kept = np.concatenate(parts, 1)[inside]
        lacking = [max(size - n, 0) for size, n in zip(wanted or kept.shape[2:], kept.shape[2:], strict=True)]
        kept = np.pad(kept, [(0, 0), (0, 0), *((0, count) for count in lacking)])
        return ((kept if b is None else kept + wide(b).reshape(-1, *(1,) * nd)).astype(x.dtype),)


DEFINITIONS: tuple[type[OpRun], ...] = (ConvTranspose,)
