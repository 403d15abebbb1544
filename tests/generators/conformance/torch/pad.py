"""Pads."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError,)
REFUSED: Table = [
    ("pad_constant", "float32[2,3]", {"pad": (-4, 0), "value": None}, "crops more than size 3"),
    ("pad_constant", "float32[3]", {"pad": (-4, 5), "value": 0}, "crops more than size 3"),
    ("pad_constant", "float32[3]", {"pad": (1, 1, 1, 1), "value": 0}, "of 2 dimensions does not fit"),
    ("pad_constant", "float32[3]", {"pad": (1,), "value": 0}, "pad takes pairs, not 1 amounts"),
    ("pad_constant", "uint8[3]", {"pad": (1, 1), "value": -1}, "uint8 cannot hold -1"),
    ("pad_constant", "int8[3]", {"pad": (1, 1), "value": 127.5}, "int8 cannot hold 127.5"),
    ("pad_constant", "float16[3]", {"pad": (1, 1), "value": 65520}, "float16 cannot hold 65520"),
    ("pad_reflect", "float32[1,1,3]", {"pad": (3, 0)}, "pad (3, 0) is more than 2, the most for size 3"),
    ("pad_reflect", "float32[4]", {"pad": (1, 1)}, "takes rank + 1 or + 2"),
    ("pad_reflect", "bool[1,4]", {"pad": (1, 1)}, "is not defined for bool"),
    ("pad_reflect", "float32[2,0,4]", {"pad": (1, 1)}, "takes no empty dimension but the batch"),
    ("pad_replicate", "float32[1,1,3]", {"pad": (-2, -1)}, "crops all of size 3"),
    ("pad_replicate", "float32[1,3]", {"pad": ()}, "pads 1 to 3 dimensions"),
    ("pad_circular", "float32[1,1,3]", {"pad": (4, 0)}, "pad (4, 0) is more than 3, the most for size 3"),
    ("pad_circular", "float32[1,1,0]", {"pad": (1, 0)}, "pad (1, 0) is more than 0, the most for size 0"),
]

STRICTER: Table = [
    # PyTorch copies uninitialized elements
    ("pad_circular", "float32[1,1,3]", {"pad": (2, -3)}, "pad (2, -3) is more than 0, the most for size 3"),
    # PyTorch accepts an empty dimension if another is not empty
    ("pad_reflect", "float32[1,2,3]", {"pad": (0, -3, 0, 0)}, "pad (0, -3) crops all of size 3"),
    # PyTorch accepts it unless something is padded
    ("pad_constant", "int8[3]", {"pad": (0, 0), "value": 300}, "int8 cannot hold 300"),
]

RESULTS: Table = [
    ("pad_constant", "int64[3]", {"pad": (-1, 5), "value": 2}, "int64[7]"),
    ("pad_constant", "float32[3]", {"pad": (-1, -2), "value": None}, "float32[0]"),
    ("pad_constant", "float32[3]", {"pad": (-3, 2), "value": -0.5}, "float32[2]"),
    ("pad_constant", "bool[0,2]", {"pad": (1, 0, 0, 2), "value": 7}, "bool[2,3]"),
    ("pad_constant", "uint8[2]", {"pad": (1, 1), "value": 255.0}, "uint8[4]"),
    ("pad_constant", "float16[]", {"pad": (), "value": None}, "float16[]"),
    ("pad_constant", "int8[1,1,1,1,1]", {"pad": (0, 1) * 5, "value": True}, "int8[2,2,2,2,2]"),
    ("pad_reflect", "int8[2,4]", {"pad": (3, -1)}, "int8[2,6]"),
    ("pad_reflect", "float32[0,2,4]", {"pad": (-4, 3)}, "float32[0,2,3]"),
    ("pad_replicate", "uint8[2,3]", {"pad": (-3, 9)}, "uint8[2,9]"),
    ("pad_circular", "bool[1,3]", {"pad": (3, 3)}, "bool[1,9]"),
    ("pad_circular", "float32[1,1,3]", {"pad": (-1, -2)}, "float32[1,1,0]"),
    ("pad_circular", "float32[1,0,3]", {"pad": (2, -1)}, "float32[1,0,4]"),
]
