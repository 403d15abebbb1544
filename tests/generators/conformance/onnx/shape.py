"""Reshape and its like, Shape and Size, blocks."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Reshape-5", "float32[2,3]", {"shape": (4, -1)}, "does not fit"),
    ("Reshape-5", "float32[2,3]", {"shape": (6, 1, 0)}, "copies no size"),
    ("Reshape-14", "float32[0,3]", {"shape": (0, -1), "allowzero": 1}, "exclude each other"),
    ("Reshape-13", "float32[2,3]", {"shape": (-1, -1)}, "is no shape"),
    ("Transpose-1", "float32[2,3]", {"perm": (0, 0)}, "is no order of 2 axes"),
    ("Unsqueeze-1", "float32[2]", {"axes": (-1,)}, "axis -1 is out of range"),
    ("Unsqueeze-11", "float32[2]", {"axes": (0, -3)}, "name one twice"),
    ("Squeeze-11", "float32[2,1]", {"axes": (0,)}, "has not the size 1"),
    ("Flatten-9", "float32[2,3]", {"axis": -1}, "out of range"),
    ("Expand-8", "float32[3,2]", {"shape": (3, 3)}, "does not expand"),
    ("Expand-8", "float32[1]", {"shape": (-1,)}, "is no shape"),
    ("Tile-6", "float32[2,3]", {"repeats": (2,)}, "does not repeat"),
    ("DepthToSpace-1", "float32[1,6,2,3]", {"blocksize": 2}, "are not blocks of 2 x 2"),
    ("DepthToSpace-11", "float32[1,4,2,3]", {"blocksize": 2, "mode": "DRC"}, "mode must be one of DCR, CRD"),
    ("SpaceToDepth-1", "float32[4,6]", {"blocksize": 2}, "takes N x C x H x W"),
]

RESULTS: Table = [
    ("Reshape-5", "float32[2,3,4]", {"shape": (0, -1)}, "float32[2,12]"),
    ("Reshape-14", "float32[0,3]", {"shape": (3, 0), "allowzero": 1}, "float32[3,0]"),
    ("Reshape-14", "float32[2,0]", {"shape": (5, 0)}, "float32[5,0]"),  # 0 copies the size 0
    ("Reshape-25", "int8[1]", {"shape": ()}, "int8[]"),
    ("Transpose-1", "float32[2,3,4]", {}, "float32[4,3,2]"),
    ("Transpose-13", "bfloat16[2,3,4]", {"perm": (1, 2, 0)}, "bfloat16[3,4,2]"),
    ("Unsqueeze-1", "float32[2,3]", {"axes": (0, 3)}, "float32[1,2,3,1]"),
    ("Unsqueeze-13", "float32[2,3]", {"axes": (-1, 0, -3)}, "float32[1,2,1,3,1]"),
    ("Squeeze-1", "float32[1,2,1]", {}, "float32[2]"),
    ("Squeeze-13", "bool[1,2,1]", {"axes": (-1,)}, "bool[1,2]"),
    ("Flatten-1", "float32[2,3,4]", {}, "float32[2,12]"),
    ("Flatten-11", "int16[2,3,4]", {"axis": -1}, "int16[6,4]"),
    ("Flatten-9", "float32[]", {"axis": 0}, "float32[1,1]"),
    ("Flatten-9", "float32[2,3]", {"axis": 2}, "float32[6,1]"),
    ("Expand-8", "float32[3,1]", {"shape": (2, 1, 4)}, "float32[2,3,4]"),
    ("Expand-13", "float32[3,1]", {"shape": (5,)}, "float32[3,5]"),
    ("Tile-6", "float32[2,3]", {"repeats": (1, 0)}, "float32[2,0]"),
    ("Shape-1", "bool[2,3]", {}, "int64[2]"),
    ("Shape-15", "bool[2,3,4]", {"start": -2, "end": 9}, "int64[2]"),
    ("Shape-15", "bool[2,3,4]", {"start": 2, "end": 1}, "int64[0]"),
    ("Size-1", "float32[2,3]", {}, "int64[]"),
    ("DepthToSpace-11", "float32[1,8,2,3]", {"blocksize": 2, "mode": "CRD"}, "float32[1,2,4,6]"),
    ("SpaceToDepth-1", "float32[1,2,4,6]", {"blocksize": 2}, "float32[1,8,2,3]"),
]
