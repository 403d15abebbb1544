"""Convolutions."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("ConvTranspose-1", "float32[1,1,7] float32[1,1,3]", {"output_shape": (8,)}, "1 cannot be cut off evenly"),
    ("Conv-11", "float32[2,3] float32[4,3]", {}, "takes rank 3 to 5"),
    ("Conv-11", "float64[2,3,7] float64[4,3,3]", {}, "X cannot be float64"),
    ("Conv-11", "float32[2,3,0] float32[4,3,3]", {}, "no empty dimension but the first"),
    ("Conv-11", "float32[2,3,7] float32[4,2,3]", {}, "does not fit the weight"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3] float32[3]", {}, "the bias must be [4]"),
    ("Conv-11", "float32[2,3,2] float32[4,3,3]", {}, "a window of 3 is larger than 2"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3]", {"kernel_shape": (2,)}, "is not that of"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3]", {"auto_pad": "SAME_UPPER", "pads": (0, 0)}, "exclude each other"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3]", {"auto_pad": "SAME_UPPER", "dilations": (2,)}, "dilations of 1"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3]", {"auto_pad": "SAME"}, "auto_pad must be one of"),
    ("ConvTranspose-11", "float32[1,1,7] float32[1,1,3]", {"output_padding": (1,)}, "below the stride"),
    ("ConvTranspose-11", "float32[1,1,7] float32[1,1,3]", {"output_shape": (6,)}, "a size of 6 is not within 7 and 9"),
    ("ConvTranspose-11", "float32[1,1,1] float32[1,1,2]", {"pads": (1, 1)}, "leaves nothing"),
]

RESULTS: Table = [
    ("Conv-11", "float32[2,3,7] float32[4,3,3]", {}, "float32[2,4,5]"),
    ("Conv-11", "float32[2,3,7] float32[4,3,3] float32[4]", {"strides": (2,), "pads": (1, 0)}, "float32[2,4,3]"),
    ("Conv-22", "bfloat16[0,4,5,6] bfloat16[4,2,1,3]", {"group": 2, "dilations": (1, 2)}, "bfloat16[0,4,5,2]"),
    ("Conv-1", "float16[1,1,5] float16[1,1,2]", {"auto_pad": "SAME_LOWER", "strides": (2,)}, "float16[1,1,3]"),
    ("Conv-1", "float32[1,1,5] float32[1,1,2]", {"auto_pad": "VALID", "kernel_shape": (2,)}, "float32[1,1,4]"),
    ("ConvTranspose-1", "float32[2,3,7] float32[3,4,3]", {"strides": (2,)}, "float32[2,4,15]"),
    ("ConvTranspose-11", "float32[2,4,7] float32[4,2,3]", {"group": 2, "pads": (1, 2)}, "float32[2,4,6]"),
    ("ConvTranspose-11", "float32[1,1,7] float32[1,1,3]", {"strides": (2,), "output_padding": (1,)}, "float32[1,1,16]"),
    ("ConvTranspose-11", "float32[1,1,7] float32[1,1,3]", {"output_shape": (8,)}, "float32[1,1,8]"),
    ("ConvTranspose-22", "float32[1,1,7] float32[1,1,3]", {"auto_pad": "SAME_UPPER"}, "float32[1,1,7]"),
]
