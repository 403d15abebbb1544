"""Reductions."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("ReduceMax-1", "float32[2,3]", {"axes": (-1,)}, "out of range"),
    ("ReduceMax-11", "float32[2,3]", {"axes": (1, -1)}, "name one twice"),
    ("ReduceMax-13", "float32[2,3]", {"axes": (2,)}, "out of range"),
    ("ReduceMax-18", "bool[2]", {}, "data cannot be bool"),
    ("ReduceSum-13", "int8[2]", {}, "data cannot be int8"),
]

RESULTS: Table = [
    ("ReduceMax-1", "float32[2,3,4]", {"axes": (0, 2)}, "float32[1,3,1]"),
    ("ReduceMin-20", "bool[2,3]", {"axes": (-1,), "keepdims": 0}, "bool[2]"),
    ("ReduceSum-11", "int32[2,3]", {}, "int32[1,1]"),
    ("ReduceSum-13", "float32[2,3]", {"keepdims": 0}, "float32[]"),
    ("ReduceSum-13", "float32[2,3]", {"axes": (), "noop_with_empty_axes": 1}, "float32[2,3]"),
    ("ReduceMean-18", "float32[2,3]", {"axes": (), "noop_with_empty_axes": 0}, "float32[1,1]"),
    ("ReduceProd-18", "float32[]", {}, "float32[]"),
    ("ReduceL1-18", "float32[2,0]", {"axes": (1,)}, "float32[2,1]"),
    ("ReduceL2-13", "bfloat16[2,3]", {"axes": (1, -2)}, "bfloat16[1,1]"),
    ("ReduceLogSum-11", "float32[2,3]", {"axes": (1,)}, "float32[2,1]"),
    ("ReduceLogSumExp-11", "float64[2,3]", {"axes": (1,)}, "float64[2,1]"),
    ("ReduceSumSquare-1", "int32[2,3]", {"axes": (1,)}, "int32[2,1]"),
]
