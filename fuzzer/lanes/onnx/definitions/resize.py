"""Resize, of which onnx 1.23 lacks version 10 and takes some axes for others, and Upsample, which it has in the mode
nearest, for whole scales and one version only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_resize

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class Resize(op_resize.Resize):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self,
        x: Array,
        roi: Array | None = None,
        scales: Array | None = None,
        sizes: Array | None = None,
        axes: Sequence[int] | None = None,
        **attributes: Any,
    ) -> tuple[Any, ...]:
        """The same with all axes, in their order. Version 10 has the scales as its second input, and two attributes."""
        if scales is None and sizes is None:
            old = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            return tuple(super()._run(x, None, roi, None, **(attributes | old)))
        if axes is not None:
            places = [axis % x.ndim for axis in axes]
            policy = attributes.get("keep_aspect_ratio_policy") or "stretch"
            if policy != "stretch" and sizes is not None:
                order = np.argsort(places)
                regions = None if roi is None or not roi.size else np.concatenate([p[order] for p in np.split(roi, 2)])
                attributes["axes"] = [places[at] for at in order]
                return tuple(super()._run(x, regions, None, sizes[order], **attributes))
            if scales is not None and scales.size:
                scales = _put(scales, places, np.ones(x.ndim, scales.dtype))
            if roi is not None and roi.size:
                edges = [_put(part, places, np.full(x.ndim, k, part.dtype)) for k, part in enumerate(np.split(roi, 2))]
                roi = np.concatenate(edges)
            if sizes is not None and sizes.size:
                sizes = _put(sizes, places, np.array(x.shape))
        return tuple(super()._run(x, roi, scales, sizes, **attributes))


def _put(given: Array, places: Sequence[int], otherwise: Array) -> Array:
    otherwise[list(places)] = given
    return otherwise


class Upsample(OpRun):  # type: ignore[misc]
    """Pixel i of the result lies at i / scale."""

    op_domain = ""

    def _run(
        self, x: Array, given: Array | None = None, mode: str = "nearest", scales: Sequence[float] | None = None
    ) -> tuple[Any, ...]:
        found = wide(x)
        steps = list(scales or ()) if given is None else given.tolist()
        for axis, scale in enumerate(steps):
            size = x.shape[axis]
            at = np.arange(int(np.floor(np.float32(size) * np.float32(scale)))) / np.float32(scale)
            low = np.minimum(np.floor(at).astype(int), size - 1)
            if mode == "nearest" or scale == 1:
                found = found.take(low, axis)
                continue
            shape = [1] * x.ndim
            shape[axis] = -1
            part = np.where(at > size - 1, 0, at - low).astype(found.dtype).reshape(shape)
            found = found.take(low, axis) * (1 - part) + found.take(np.minimum(low + 1, size - 1), axis) * part
        return (found.astype(x.dtype),)


DEFINITIONS: tuple[type[OpRun], ...] = (Resize, Upsample)
