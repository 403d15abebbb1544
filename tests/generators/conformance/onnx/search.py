"""ArgMax, ArgMin, TopK, Unique and CumSum."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("ArgMax-1", "float32[0,3]", {}, "there is no such element"),
    ("ArgMax-1", "float32[2,3]", {"axis": -1}, "out of range"),
    ("ArgMax-13", "bool[2]", {}, "data cannot be bool"),
    ("TopK-1", "float32[2,3]", {"k": 0}, "k must be positive"),
    ("TopK-10", "float32[2,3]", {"K": (4,)}, "has no 4 elements"),
    ("TopK-10", "float32[2,3]", {"K": (2,), "axis": -2}, "out of range"),
    ("TopK-11", "float32[2,3]", {"K": (2, 1)}, "K must be a list of one integer"),
    ("Unique-11", "int64[2]", {"outputs": (True, False, False, False)}, "does not exist for these attributes"),
    ("Unique-11", "int64[0]", {"outputs": (False, False, True, False)}, "has no elements"),
    ("CumSum-11", "float32[2]", {"axis": 1, "T2": "int32"}, "out of range"),
    ("CumSum-11", "float32[]", {"axis": 0, "T2": "int32"}, "out of range"),
]

RESULTS: Table = [
    ("ArgMax-1", "float32[2,3]", {}, "int64[1,3]"),
    ("ArgMin-12", "int8[2,3]", {"axis": -1, "keepdims": 0, "select_last_index": 1}, "int64[2]"),
    ("TopK-1", "float32[2,3]", {"k": 2}, "float32[2,2] int64[2,2]"),
    ("TopK-10", "float32[2,3]", {"K": (3,), "axis": 1}, "float32[2,3] int64[2,3]"),
    ("TopK-11", "int16[2,3]", {"K": (0,), "axis": 0, "largest": 0}, "int16[0,3] int64[0,3]"),
    ("TopK-11", "float32[2,3]", {"K": (1,), "sorted": 0}, "float32[2,1] int64[2,1]"),
    ("Unique-11", "int64[2,3]", {"outputs": (False, False, True, False)}, "int64[6]"),
    ("Unique-11", "float32[2,3]", {"outputs": (False, False, True, False), "axis": -1}, "int64[3]"),
    ("CumSum-11", "float64[2,3]", {"axis": -1, "T2": "int32", "reverse": 1}, "float64[2,3]"),
]
