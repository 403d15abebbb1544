"""Pooling."""

from __future__ import annotations

from conformance import Table

NUMBER = 0
"""PyTorch gets zeros, which are valid indices of every window."""

RAISED = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError)
REFUSED: Table = [
    ("max_pool1d", "float32[1,5]", {"kernel_size": (3,), "padding": 2}, "padding is at most half the kernel"),
    ("max_pool1d", "float32[1,5]", {"kernel_size": 2, "padding": 2, "dilation": 3}, "at most half the kernel"),
    ("max_pool1d", "int64[1,5]", {"kernel_size": 2}, "is not defined for int64"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": 3}, "is larger than 2"),
    ("max_pool2d", "bool[1,2,2]", {"kernel_size": 1}, "is not defined for bool"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": (1, 1, 1)}, "kernel_size takes 2 numbers, not 3"),
    ("max_pool2d", "float32[1,0,2,2]", {"kernel_size": 1}, "no empty dimension but the batch"),
    ("max_pool2d", "float32[0,2,2]", {"kernel_size": 1}, "no empty dimension but the batch"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": 1, "stride": 0}, "must be positive"),
    ("avg_pool2d", "float32[1,5,5]", {"kernel_size": 3, "padding": 2}, "at most half the kernel"),
    ("avg_pool2d", "float32[5,5]", {"kernel_size": 3}, "takes rank 3 or 4"),
    ("avg_pool2d", "float32[1,5,5]", {"kernel_size": 3, "divisor_override": 0}, "must not be 0"),
    ("avg_pool2d", "int32[1,5,5]", {"kernel_size": 3}, "is not defined for int32"),
    ("avg_pool3d", "float32[1,3,3,3]", {"kernel_size": (4, 1, 1)}, "is larger than 3"),
    ("avg_pool3d", "float32[1,3,3,3]", {"kernel_size": (4, 1, 1), "padding": (2, 0, 0)}, "is larger than 3"),
    ("avg_pool3d", "float16[1,3,3,3]", {"kernel_size": 1}, "is not defined for float16"),
    ("lp_pool2d", "float32[1,4,4]", {"norm_type": 2, "kernel_size": (2,)}, "kernel_size takes 2 numbers, not 1"),
    ("lp_pool1d", "float32[1,4]", {"norm_type": 0, "kernel_size": 2}, "norm_type must be positive"),
    ("lp_pool1d", "int8[1,4]", {"norm_type": 2, "kernel_size": 2}, "is not defined for int8"),
    ("adaptive_avg_pool1d", "float32[1,4]", {"output_size": (None,)}, "in one dimension, output_size is a number"),
    ("adaptive_avg_pool2d", "float32[1,4,4]", {"output_size": (1,)}, "output_size takes 2 numbers, not 1"),
    ("adaptive_max_pool2d", "float32[1,0,4,4]", {"output_size": 1}, "no empty plane"),
    ("adaptive_max_pool2d", "int64[1,1,4,4]", {"output_size": 1}, "is not defined for int64"),
    ("max_unpool1d", "float32[1,3] int32[1,3]", {"kernel_size": 2}, "is not defined for int32"),
    ("max_unpool1d", "float32[1,3] int64[1,2]", {"kernel_size": 2}, "another shape"),
    ("max_unpool1d", "float32[1,3] int64[1,3]", {"kernel_size": 2, "output_size": (8,)}, "a stride or more from [6]"),
    ("max_unpool2d", "float32[1,3,3] int64[1,3,3]", {"kernel_size": (2,)}, "kernel_size takes 2 numbers, not 1"),
]

STRICTER: Table = [
    # PyTorch refuses it for channels_last
    ("max_pool2d", "int8[1,1,16,8]", {"kernel_size": 2}, "the positions of int8[1,1,16,8] do not fit int8"),
    (
        "max_pool1d_with_indices",
        "float32[1,1]",
        {"kernel_size": 2, "padding": 1, "dilation": 2},
        "a window without elements has no largest one",
    ),
    ("lp_pool1d", "float32[1,4]", {"norm_type": -1.0, "kernel_size": 2}, "norm_type must be positive"),
    ("adaptive_avg_pool2d", "float32[1,2,0,4]", {"output_size": 1}, "pooling takes no empty plane"),  # NaN
    (
        "max_unpool1d",
        "float32[1,3] int64[1,3]",
        {"kernel_size": 2, "stride": 1},
        "the result may be too small for the indices",
    ),  # whether the indices fit is not known
]

RESULTS: Table = [
    (
        "max_pool1d",
        "float32[1,5]",
        {"kernel_size": 2, "stride": (3,), "padding": 1, "ceil_mode": True},
        "float32[1,2]",
    ),
    ("max_pool1d", "float16[2,3,1]", {"kernel_size": 4, "ceil_mode": True}, "float16[2,3,1]"),
    ("max_pool2d", "int8[0,2,5,4]", {"kernel_size": (3, 2), "dilation": (2, 1)}, "int8[0,2,1,2]"),
    ("max_pool2d", "float32[2,5,4]", {"kernel_size": (2,), "stride": (1, 2)}, "float32[2,4,2]"),
    ("max_pool3d", "uint8[1,1,2,2,2]", {"kernel_size": 3, "padding": 1}, "uint8[1,1,1,1,1]"),
    ("max_pool1d_with_indices", "int64[2,4]", {"kernel_size": 2}, "int64[2,2] int64[2,2]"),
    ("max_pool3d_with_indices", "bfloat16[1,2,2,2]", {"kernel_size": 2}, "bfloat16[1,1,1,1] int64[1,1,1,1]"),
    ("avg_pool1d", "int64[2,4]", {"kernel_size": 4}, "int64[2,1]"),
    ("avg_pool2d", "bfloat16[2,5,5]", {"kernel_size": 2, "divisor_override": -2}, "bfloat16[2,2,2]"),
    ("avg_pool2d", "float32[1,1,7,7]", {"kernel_size": 7}, "float32[1,1,1,1]"),
    ("lp_pool1d", "bool[1,4]", {"norm_type": 2, "kernel_size": 2}, "float32[1,2]"),
    ("lp_pool2d", "int8[1,4,4]", {"norm_type": 2.0, "kernel_size": (2, 1)}, "float32[1,2,4]"),
    ("lp_pool2d", "float16[1,4,4]", {"norm_type": 1.5, "kernel_size": 3, "stride": (1,)}, "float16[1,2,2]"),
    ("adaptive_avg_pool1d", "float32[2,0,4]", {"output_size": (3,)}, "float32[2,0,3]"),
    ("adaptive_avg_pool2d", "float32[2,4,5]", {"output_size": (None, 7)}, "float32[2,4,7]"),
    ("adaptive_avg_pool3d", "float16[1,2,2,2,2]", {"output_size": (None, None, 1)}, "float16[1,2,2,2,1]"),
    ("adaptive_max_pool2d", "float64[0,1,4,4]", {"output_size": 0}, "float64[0,1,0,0]"),
    ("adaptive_max_pool1d_with_indices", "float32[0,4]", {"output_size": 2}, "float32[0,2] int64[0,2]"),
    ("max_unpool2d", "float32[1,2,2] int64[1,2,2]", {"kernel_size": 2, "output_size": (4, 5)}, "float32[1,4,5]"),
    ("max_unpool1d", "float16[2,1,3] int64[2,1,3]", {"kernel_size": (4,), "stride": 2}, "float16[2,1,8]"),
]
