"""Resize and Upsample."""

from __future__ import annotations

from conformance import Table

X = "float32[1,1,4,6]"
CROP = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}


REFUSED: Table = [
    ("Upsample-9", X, {"scales": (1.0, 1.0, 0.5, 1.0)}, "scales are 1 or more"),
    ("Upsample-9", X, {"scales": (1.0, 1e308, 1.0, 1.0)}, "is larger than any size"),
    ("Resize-13", X, {"scales": (1.0, 1.0, 1e308, 1.0)}, "is larger than any size"),
    ("Resize-13", X, {}, "takes either scales or sizes"),
    ("Resize-13", X, {"scales": (2.0,)}, "takes 4 numbers"),
    ("Resize-13", X, {"scales": (1.0, 1.0, 0.1, 1.0)}, "would have no elements"),
    ("Resize-13", X, {"scales": (1.0, 2.0, 1.0, 1.0), "mode": "linear"}, "resizes no batch"),
    ("Resize-13", "int8[1,1,4,6]", {"scales": (1.0, 1.0, 2.0, 1.0), "mode": "linear"}, "in other ways"),
    ("Resize-13", X, {"sizes": (1, 1, 8, 6), **CROP}, "takes a region"),
    ("Resize-13", X, {"sizes": (1, 1, 4, 6), "roi": (0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0), **CROP}, "of 6 to 6"),
    ("Resize-13", "float32[1,1,10]", {"sizes": (1, 1, 14), "nearest_mode": "floor"}, "a matter of rounding from 10"),
    ("Resize-18", X, {"sizes": (8, 9), "axes": (2, 2)}, "repeat a dimension"),
    ("Resize-18", X, {"scales": (2.0, 2.0), "axes": (2, 3), "keep_aspect_ratio_policy": "not_larger"}, "with sizes"),
]

RESULTS: Table = [
    ("Upsample-7", X, {"scales": (1.0, 1.0, 2.0, 1.5)}, "float32[1,1,8,9]"),
    ("Upsample-9", "int8[1,1,4,6]", {"scales": (1.0, 1.0, 2.0, 1.0)}, "int8[1,1,8,6]"),
    ("Resize-10", X, {"scales": (1.0, 1.0, 1.0, 2.5), "mode": "linear"}, "float32[1,1,4,15]"),
    ("Resize-11", X, {"roi": (), "scales": (), "sizes": (1, 1, 8, 3)}, "float32[1,1,8,3]"),
    ("Resize-13", X, {"scales": (1.0, 1.0, 0.5, 0.5), "mode": "cubic"}, "float32[1,1,2,3]"),
    ("Resize-18", X, {"sizes": (8, 9), "axes": (2, 3), "keep_aspect_ratio_policy": "not_larger"}, "float32[1,1,6,9]"),
    ("Resize-19", X, {"sizes": (8, 9), "axes": (2, 3), "keep_aspect_ratio_policy": "not_smaller"}, "float32[1,1,8,12]"),
    ("Resize-19", "bfloat16[2,3,4]", {"scales": (2.0,), "axes": (-1,), "mode": "linear"}, "bfloat16[2,3,8]"),
]
