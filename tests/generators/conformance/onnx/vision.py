"""Images sampled at points, regions and boxes."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("GridSample-16", "float32[2,3,4,5,6] float32[2,1,2,3,3]", {}, "takes no image"),
    ("GridSample-20", "float32[2,3,4,5] float64[2,6,7,2]", {}, "has another dtype than"),
    ("GridSample-20", "float32[2,3,4,5] float32[1,6,7,2]", {}, "is no grid for"),
    ("GridSample-20", "float32[2,3,4,5] float32[2,6,7,2]", {"mode": "bilinear"}, "has no mode bilinear"),
    ("GridSample-20", "float32[2,3,4,5] float32[2,6,7,2]", {"mode": "cubic", "padding_mode": "border"}, "lack this"),
    ("AffineGrid-20", "float32[2,2,3]", {"size": (1, 3, 4, 5)}, "is no affine map"),
    ("AffineGrid-20", "float32[2,2,3]", {"size": (2, 3, 1, 5), "align_corners": 1}, "no corners to align"),
    ("MaxRoiPool-1", "float32[2,3,4,5] float32[6,4]", {"pooled_shape": (2, 1)}, "are no regions of"),
    ("RoiAlign-16", "float32[2,3,4,5] float32[6,4] int64[5]", {}, "are no numbers of images"),
    ("RoiAlign-16", "float32[2,3,4,5] float32[6,4] int64[6]", {"mode": "max"}, "no maximum of samples"),
    ("NonMaxSuppression-11", "float32[2,5,4] float32[2,3,5]", {"iou_threshold": 0.5}, "is not known"),
]

RESULTS: Table = [
    ("GridSample-16", "float32[2,3,4,5] float32[2,6,7,2]", {"mode": "bicubic"}, "float32[2,3,6,7]"),
    ("GridSample-20", "float64[2,3,4,5,6] float64[2,1,2,3,3]", {"mode": "nearest"}, "float64[2,3,1,2,3]"),
    ("AffineGrid-20", "float32[2,2,3]", {"size": (2, 3, 4, 5)}, "float32[2,4,5,2]"),
    ("AffineGrid-20", "float16[1,3,4]", {"size": (1, 3, 4, 5, 6)}, "float16[1,4,5,6,3]"),
    ("MaxRoiPool-1", "float32[2,3,4,5] float32[6,5]", {"pooled_shape": (2, 1)}, "float32[6,3,2,1]"),
    ("RoiAlign-10", "float32[2,3,4,5] float32[6,4] int64[6]", {"output_width": 2}, "float32[6,3,1,2]"),
    (
        "NonMaxSuppression-11",
        "float32[2,5,4] float32[2,3,5]",
        {"max_output_boxes_per_class": 4, "iou_threshold": 1.0},
        "int64[24,3]",
    ),
    ("NonMaxSuppression-10", "float32[2,5,4] float32[2,3,5]", {"iou_threshold": 1.0}, "int64[0,3]"),
    ("NonMaxSuppression-10", "float32[2,5,4] float32[2,3,5]", {"then": "Size"}, "int64[]"),
    (
        "NonMaxSuppression-11",
        "float32[2,5,4] float32[2,3,5]",
        {"iou_threshold": 0.5, "then": "ReduceSum"},
        "int64[1,1]",
    ),
]
