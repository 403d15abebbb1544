"""Rows of `vision`."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError, ValueError)
REFUSED: Table = [
    ("interpolate_nearest", "float32[2,2]", {"size": 2}, "takes rank 3 or 4 or 5"),
    ("interpolate_linear", "float32[1,2,2,2]", {"size": 2}, "takes rank 3, not"),
    ("interpolate_nearest", "float32[1,1,4]", {}, "takes either size or scale_factor"),
    ("interpolate_nearest", "float32[1,1,4]", {"size": 2, "scale_factor": 2}, "takes either size or scale_factor"),
    ("interpolate_nearest", "float32[1,1,4,4]", {"size": (2,)}, "takes 1 or 2 numbers, not 1"),
    ("interpolate_bilinear", "float32[1,1,4,4]", {"scale_factor": (2.0,)}, "takes 1 or 2 numbers, not 1"),
    ("interpolate_area", "float32[1,1,4]", {"size": 2, "recompute_scale_factor": True}, "requires a scale_factor"),
    ("interpolate_nearest", "float32[1,0,4]", {"size": 2}, "to [2]"),
    ("interpolate_bicubic", "float32[1,1,4,4]", {"scale_factor": 0.2}, "to [0, 0]"),
    ("interpolate_area", "float32[1,1,0]", {"size": 2}, "to [2]"),
    ("interpolate_bilinear", "float16[1,1,4,4]", {"size": 2, "antialias": True}, "is not defined for float16"),
    ("interpolate_linear", "int64[1,1,4]", {"size": 2}, "is not defined for int64"),
    ("pixel_shuffle", "float32[3,2,2]", {"upscale_factor": 2}, "3 channels do not split into 2 x 2"),
    ("pixel_shuffle", "float32[4,2]", {"upscale_factor": 2}, "takes rank 3 or more"),
    ("pixel_unshuffle", "float32[1,3,4]", {"downscale_factor": 2}, "does not split into 2 x 2"),
    ("pixel_unshuffle", "float32[1,4,4]", {"downscale_factor": 0}, "downscale_factor must be positive"),
    ("grid_sample", "float32[1,1,4,4] float32[2,1,1,2]", {}, "is no grid of 2 coordinates"),
    ("grid_sample", "float32[1,1,4,4] float32[1,1,1,3]", {}, "is no grid of 2 coordinates"),
    ("grid_sample", "float32[1,1,0,4] float32[1,1,1,2]", {}, "nothing to sample"),
    ("grid_sample", "float32[1,1,4,4] float64[1,1,1,2]", {}, "must share one dtype"),
    ("grid_sample", "float32[1,1,2,2,2] float32[1,1,1,1,3]", {"mode": "bicubic"}, "for two dimensions only"),
    ("affine_grid", "float32[2,2,3]", {"size": (2, 1, 0, 3)}, "4 or 5 positive numbers"),
    ("affine_grid", "float32[2,2,3]", {"size": (1, 1, 2, 3)}, "is no affine map"),
    ("affine_grid", "float16[2,2,3]", {"size": (2, 1, 1, 3)}, "lacks a grid of one float16 coordinate"),
]

STRICTER: Table = [
    # the rounding depends on the processor
    ("interpolate_bilinear", "uint8[1,1,4,4]", {"size": 3}, "is not defined for uint8"),
    ("interpolate_nearest", "float32[0,1,2]", {"size": 2}, "cannot resize"),
    # PyTorch computes it in another way
    ("interpolate_nearest", "float32[1,1,2,5]", {"scale_factor": 1.1}, "a matter of rounding"),
    ("interpolate_nearest", "float32[1,1,31]", {"scale_factor": 2.3}, "a matter of rounding from 31 to 71"),
    # PyTorch returns it in its old shape
    ("pixel_unshuffle", "float32[0,1,2,2]", {"downscale_factor": 2}, "leaves float32"),
]

RESULTS: Table = [
    ("interpolate_nearest", "uint8[1,2,3,5]", {"scale_factor": (2, 1.5)}, "uint8[1,2,6,7]"),
    (
        "interpolate_nearest_exact",
        "bfloat16[1,1,4]",
        {"size": 3, "recompute_scale_factor": False},
        "bfloat16[1,1,3]",
    ),
    ("interpolate_area", "float32[2,0,5]", {"scale_factor": 0.1}, "float32[2,0,0]"),
    ("interpolate_trilinear", "float16[1,1,2,3,4]", {"scale_factor": 1.3}, "float16[1,1,2,3,5]"),
    ("pixel_shuffle", "bool[0,4,0,3]", {"upscale_factor": 2}, "bool[0,1,0,6]"),
    ("grid_sample", "float16[0,2,3,3] float16[0,4,0,2]", {"padding_mode": "border"}, "float16[0,2,4,0]"),
    ("affine_grid", "float64[2,3,4]", {"size": (2, 7, 1, 2, 3), "align_corners": True}, "float64[2,1,2,3,3]"),
]
