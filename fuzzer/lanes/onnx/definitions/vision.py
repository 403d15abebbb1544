"""Regions and grids. onnx 1.23 lacks MaxRoiPool, does not know the names that modes of GridSample have in version 16,
rounds its coordinates and the grids of AffineGrid to float32, and computes RoiAlign of version 10 as that of version
16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_affine_grid, op_grid_sample, op_roi_align

from fuzzer.lanes.onnx.definitions.legal import rows
from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class GridSample(op_grid_sample.GridSample):  # type: ignore[misc]
    op_domain = ""

    def _run(self, x: Array, grid: Array, mode: str = "linear", **attributes: Any) -> tuple[Any, ...]:
        name = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
        (found,) = super()._run(wide(x), wide(grid), mode=name, **attributes)
        return (found.astype(x.dtype),)

    def _gs_denormalize_coordinates(self, n: Array, dims: Sequence[int], align_corners: bool) -> Array:
        pairs = zip(n.astype(np.float64), dims, strict=False)
        return np.array([self._gs_denormalize(each, length, align_corners) for each, length in pairs])


class AffineGrid(OpRun):  # type: ignore[misc]
    """The matrices times the points of a regular grid from -1 to 1."""

    op_domain = ""

    def _run(self, theta: Array, size: Array, align_corners: int = 0) -> tuple[Any, ...]:
        points = op_affine_grid.construct_original_grid(size[2:].tolist(), align_corners)
        grid = np.einsum("nij,...j->n...i", theta.astype(np.float64), points)
        return (grid.astype(theta.dtype),)


class RoiAlign(op_roi_align.RoiAlign):  # type: ignore[misc]
    op_domain = ""

    def _run(
        self, x: Array, rois: Array, images: Array, coordinate_transformation_mode: str = "", **attributes: Any
    ) -> tuple[Any, ...]:
        old = self.run_params["opsets"][""] < 16
        mode = "output_half_pixel" if old else coordinate_transformation_mode
        return tuple(super()._run(x, rois, images, coordinate_transformation_mode=mode, **attributes))


class MaxRoiPool(OpRun):  # type: ignore[misc]
    """The region, with whole pixels at both corners, is split into windows that may overlap by a pixel."""

    op_domain = ""

    def _run(self, x: Array, rois: Array, pooled_shape: Any = None, spatial_scale: float = 1.0) -> tuple[Any, ...]:
        found = np.zeros((len(rois), x.shape[1], *pooled_shape), x.dtype)
        images = rows(x, rois[:, 0].astype(np.int64))
        for number, (image, region) in enumerate(zip(images, rois.astype(np.float32), strict=True)):
            corners = _rounded(region[1:] * np.float32(spatial_scale))
            spans = [
                _windows(corners[at], corners[at + 2], bins) for at, bins in zip((1, 0), pooled_shape, strict=True)
            ]
            for i, (top, bottom) in enumerate(spans[0]):
                for j, (left, right) in enumerate(spans[1]):
                    part = image[:, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
                    if part.size:
                        found[number, :, i, j] = part.max((1, 2))
        return (found,)


def _rounded(numbers: Array) -> list[int]:
    """Halves are rounded away from zero."""
    return [int(each) for each in np.sign(numbers) * np.floor(np.abs(numbers) + np.float32(0.5))]


def _windows(first: int, last: int, bins: int) -> list[tuple[int, int]]:
    step = np.float32(max(last - first + 1, 1)) / np.float32(bins)
    return [
        (first + int(np.floor(np.float32(at) * step)), first + int(np.ceil(np.float32(at + 1) * step)))
        for at in range(bins)
    ]


class NonMaxSuppression(OpRun):  # type: ignore[misc]
    """For each image and class, the boxes by falling score, without those below the score_threshold and those that
    overlap a box before them by more than iou_threshold. The interpreter fails where a threshold is left out."""

    op_domain = ""

    def _run(
        self,
        boxes: Array,
        scores: Array,
        max_output_boxes_per_class: Array | None = None,
        iou_threshold: Array | None = None,
        score_threshold: Array | None = None,
        center_point_box: int = 0,
    ) -> tuple[Any, ...]:
        most, overlap = int(_number(max_output_boxes_per_class, 0)), _number(iou_threshold, 0)
        lowest = _number(score_threshold, -np.inf)
        found = []
        for image, kind in np.ndindex(scores.shape[:2]):
            corners, own = _corners(boxes[image], center_point_box), scores[image, kind]
            kept: list[int] = []
            for box in np.argsort(-own, kind="stable"):
                apart = all(_overlap(corners[box], corners[other]) <= overlap for other in kept)
                if own[box] > lowest and apart and len(kept) < most:
                    kept.append(int(box))
            found += [(image, kind, box) for box in kept]
        return (np.array(found, np.int64).reshape(-1, 3),)


def _number(given: Array | None, otherwise: float) -> float:
    return otherwise if given is None else float(given.reshape(-1)[0])


def _corners(boxes: Array, by_centre: int) -> Array:
    """The lower and the upper corner of each box: y and x, or x and y where the file gives centres and sizes."""
    if by_centre:
        return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
    return np.concatenate([np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], 1)


def _overlap(one: Array, other: Array) -> float:
    """The area of the intersection, in that of the union; 0 where a box is empty."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    areas = [float(np.prod(box[2:] - box[:2])) for box in (one, other)]
    inner = float(np.prod(np.maximum(sides, 0)))
    return inner / (sum(areas) - inner) if min(areas) > 0 else 0.0


DEFINITIONS: tuple[type[OpRun], ...] = (GridSample, AffineGrid, RoiAlign, MaxRoiPool, NonMaxSuppression)
