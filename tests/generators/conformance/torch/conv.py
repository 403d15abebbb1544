"""Convolutions."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("conv1d", "float32[1,4,5] float32[2,4,3]", {"groups": 2}, "does not fit the weight"),
    ("conv1d", "float32[1,4,5] float32[3,2,3]", {"groups": 2}, "3 output channels do not split into 2 groups"),
    ("conv1d", "float32[1,4,5] float32[2,4,3] float32[3]", {}, "the bias must be [2]"),
    ("conv1d", "float32[1,4,5] float16[2,4,3]", {}, "must share one dtype"),
    ("conv1d", "bool[1,4,5] bool[2,4,3]", {}, "is not defined for bool"),
    ("conv1d", "int32[1,4,5] int32[2,4,3]", {"dilation": 2}, "is not defined for int32"),
    ("conv2d", "float32[1,1,2,5] float32[1,1,3,3]", {}, "window of 3 (dilation 1) is larger than 2"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"padding": -1}, "must be positive"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"padding": "same", "stride": 2}, "takes a stride of 1"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"stride": (1, 1, 1)}, "stride takes 2 numbers, not 3"),
    ("conv2d", "float32[4,5] float32[1,4,3,3]", {}, "takes rank 3 or 4"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"groups": 0}, "do not split into 0 groups"),
    ("conv2d", "float32[1,1,0,5] float32[1,1,1,3]", {"padding": 1}, "no empty dimension but the batch"),
    ("conv_transpose1d", "float32[1,2,4] float32[2,1,3]", {"output_padding": 1}, "must be below stride or dilation"),
    ("conv_transpose1d", "float32[1,3,4] float32[2,1,3]", {}, "does not fit the weight"),
    ("conv_transpose1d", "float32[1,2,1] float32[2,1,1]", {"padding": 1}, "leaves nothing"),
    ("conv_transpose2d", "int32[2,4,4] int32[2,1,3,3]", {}, "is not defined for int32"),
    (
        "conv2d_padded",
        "float32[1,1,2,5] float32[1,1,3,3]",
        {"pad": (0, 0, 2, 2), "padding_mode": "reflect"},
        "more than 1",
    ),
    ("im2col", "float32[2,3]", {"kernel_size": 1}, "takes images"),
    ("im2col", "float32[1,2,3]", {"kernel_size": 3}, "is larger than 2"),
    ("im2col", "int64[1,2,3]", {"kernel_size": 1}, "is not defined for int64"),
    ("col2im", "float32[7,4]", {"kernel_size": 2, "output_size": 3}, "7 channels are no blocks of 4"),
    ("col2im", "float32[4,5]", {"kernel_size": 2, "output_size": 3}, "has not the 4 blocks"),
]

STRICTER: Table = [
    # PyTorch gives [2,0,3], without the channels of the weight
    ("conv1d", "float32[2,0,5] float32[3,0,3]", {}, "the weight must have rank 3, not float32[3,0,3]"),
]

RESULTS: Table = [
    ("conv1d", "float16[2,5] float16[3,2,7]", {"padding": 1}, "float16[3,1]"),
    ("conv1d", "int8[1,2,5] int8[4,1,3] int8[4]", {"groups": 2, "stride": (2,)}, "int8[1,4,2]"),
    ("conv2d", "bfloat16[0,2,5,5] bfloat16[3,2,3,3]", {"padding": "valid"}, "bfloat16[0,3,3,3]"),
    (
        "conv2d",
        "float32[1,3,5,4] float32[6,1,2,4]",
        {"groups": 3, "padding": "same", "dilation": (2, 1)},
        "float32[1,6,5,4]",
    ),
    ("conv2d", "int64[1,5,5] int64[1,1,3,3]", {"dilation": 2}, "int64[1,1,1]"),
    ("conv3d", "float64[1,1,2,2,2] float64[1,1,3,1,1]", {"padding": (1, 0, 2)}, "float64[1,1,2,2,6]"),
    (
        "conv_transpose1d",
        "float32[2,3] float32[2,3,1] float32[6]",
        {"groups": 2, "stride": 3, "output_padding": 2},
        "float32[6,9]",
    ),
    (
        "conv_transpose1d",
        "int64[1,1,2] int64[1,1,3]",
        {"padding": 1, "dilation": 2, "output_padding": (1,)},
        "int64[1,1,5]",
    ),
    ("conv_transpose2d", "float16[0,1,2,2] float16[1,2,2,2]", {"stride": (1, 2)}, "float16[0,2,3,4]"),
    ("conv1d_padded", "float32[1,4] float32[1,1,4]", {"pad": (1, 2), "padding_mode": "circular"}, "float32[1,4]"),
    (
        "conv2d_padded",
        "float32[1,2,2] float32[1,1,1,1]",
        {"pad": (1, 0, -1, 0), "padding_mode": "reflect"},
        "float32[1,1,3]",
    ),
    ("im2col", "bool[0,2,3,4]", {"kernel_size": (2, 1), "stride": 2, "padding": (1, 0)}, "bool[0,4,4]"),
    ("col2im", "bool[8,4]", {"output_size": (3, 5), "kernel_size": 2, "dilation": (1, 3)}, "bool[2,3,5]"),
    ("col2im", "float16[0,2,9]", {"output_size": 1, "kernel_size": 1, "padding": 1}, "float16[0,2,1,1]"),
]
