"""Pooling."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("MaxPool-12", "float32[2,3]", {"kernel_shape": (1,)}, "takes rank 3 to 5"),
    ("MaxPool-12", "float32[2,0,3]", {"kernel_shape": (1,)}, "no empty dimension but the first"),
    ("MaxPool-12", "float32[2,3,7]", {"kernel_shape": (3, 3)}, "kernel_shape takes 1 positive numbers"),
    ("MaxPool-12", "float32[2,3,7]", {"kernel_shape": (2,), "pads": (2, 0)}, "pads are smaller than the kernel"),
    ("MaxPool-12", "float32[2,3,1]", {"kernel_shape": (2,), "pads": (1, 1), "dilations": (2,)}, "no element"),
    ("MaxPool-12", "float32[2,3,4]", {"kernel_shape": (1,), "strides": (2,), "ceil_mode": 1}, "starts in the padding"),
    (
        "AveragePool-22",
        "float32[2,3,4]",
        {"kernel_shape": (1,), "strides": (2,), "auto_pad": "SAME_UPPER"},
        "lie apart",
    ),
    (
        "AveragePool-22",
        "float32[2,3,4]",
        {"kernel_shape": (2,), "ceil_mode": 1, "auto_pad": "SAME_UPPER"},
        "SAME and ceil_mode exclude each other",
    ),
    ("MaxUnpool-11", "float32[1,2,3] int64[1,2,4]", {"kernel_shape": (2,)}, "the indices have another shape"),
    ("MaxUnpool-11", "float32[1,2,3] int64[1,2,3]", {"kernel_shape": (2,)}, "may be too small for the indices"),
    (
        "MaxUnpool-11",
        "float32[1,2,3] int64[1,2,3]",
        {"kernel_shape": (2,), "strides": (2,), "output_shape": (1, 2, 7)},
        "output_shape [1, 2, 7] is not [1, 2, 6]",
    ),
]

RESULTS: Table = [
    ("MaxPool-1", "float32[2,3,7]", {"kernel_shape": (3,)}, "float32[2,3,5]"),
    (
        "MaxPool-12",
        "int8[2,3,7,6]",
        {"kernel_shape": (3, 2), "strides": (2, 3), "pads": (1, 0, 2, 1), "outputs": (True, True)},
        "int8[2,3,4,2] int64[2,3,4,2]",
    ),
    ("MaxPool-22", "bfloat16[2,3,7]", {"kernel_shape": (2,), "dilations": (3,), "strides": (2,)}, "bfloat16[2,3,2]"),
    ("AveragePool-11", "float32[2,3,8]", {"kernel_shape": (3,), "strides": (2,), "ceil_mode": 1}, "float32[2,3,4]"),
    (
        "AveragePool-22",
        "float32[2,3,3]",
        {"kernel_shape": (2,), "strides": (3,), "pads": (0, 1), "ceil_mode": 1},
        "float32[2,3,1]",
    ),
    ("LpPool-2", "float32[1,1,5]", {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_LOWER"}, "float32[1,1,3]"),
    ("GlobalAveragePool-1", "float16[2,3,4,5]", {}, "float16[2,3,1,1]"),
    ("GlobalLpPool-2", "float32[0,3,4]", {"p": 1}, "float32[0,3,1]"),
    ("MaxUnpool-11", "float32[1,2,3] int64[1,2,3]", {"kernel_shape": (3,), "strides": (2,)}, "float32[1,2,7]"),
]
