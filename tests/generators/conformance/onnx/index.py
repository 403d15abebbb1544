"""Slices, gathers and Compress."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Slice-1", "float32[4,5]", {"starts": (1,), "ends": (9, 2)}, "as many starts as ends"),
    ("Slice-10", "float32[4]", {"Tind": "int64", "starts": (0,), "ends": (1,), "axes": (-1,)}, "out of range"),
    ("Slice-10", "float32[4]", {"Tind": "int16", "starts": (0,), "ends": (1,)}, "Tind must be one of int64, int32"),
    ("Slice-13", "bool[5]", {"Tind": "int64", "starts": (3,), "ends": (1,), "steps": (0,)}, "must not be 0"),
    ("Gather-1", "float32[4] float32[2]", {}, "indices cannot be float32"),
    ("Gather-13", "float32[0,5] int64[2]", {}, "size 0 has no positions"),
    ("GatherElements-13", "float32[4,5] int64[5,5]", {"axis": 1}, "is larger than"),
    ("GatherElements-13", "float32[4,5] int64[5]", {"axis": 1}, "has not the rank"),
    ("GatherND-11", "float32[4,5] int64[2,3]", {}, "has no 3 dimensions"),
    ("GatherND-12", "float32[4,5] int64[3,1]", {"batch_dims": 1}, "other batches"),
    ("Compress-9", "float32[2]", {"condition": (True, False, True)}, "longer than 2"),
    ("Compress-9", "float32[2]", {"condition": (1, 0)}, "condition must be a list of true and false"),
]

RESULTS: Table = [
    ("Slice-1", "float32[4,5]", {"starts": (1, -3), "ends": (9, -1)}, "float32[3,2]"),
    ("Slice-10", "float32[4]", {"Tind": "int32", "starts": (0,), "ends": (2**31 - 1,), "steps": (3,)}, "float32[2]"),
    ("Slice-11", "float32[4,5]", {"Tind": "int64", "starts": (2,), "ends": (4,), "axes": (-1,)}, "float32[4,2]"),
    ("Slice-13", "bool[5]", {"Tind": "int64", "starts": (-1,), "ends": (-(2**63),), "steps": (-2,)}, "bool[3]"),
    ("Slice-13", "bool[5]", {"Tind": "int64", "starts": (-9,), "ends": (-9,), "steps": (-1,)}, "bool[1]"),
    ("Slice-13", "bool[5]", {"Tind": "int64", "starts": (3,), "ends": (1,)}, "bool[0]"),
    ("Slice-13", "bool[0]", {"Tind": "int64", "starts": (-1,), "ends": (-5,), "steps": (-1,)}, "bool[0]"),
    ("Gather-1", "float32[4,5] int32[2,3]", {"axis": -1}, "float32[4,2,3]"),
    ("Gather-13", "bfloat16[4,5] int64[]", {}, "bfloat16[5]"),
    ("Gather-13", "int8[0,5] int64[0]", {}, "int8[0,5]"),
    ("GatherElements-11", "float32[4,5] int64[3,7]", {"axis": 1}, "float32[3,7]"),
    ("GatherND-11", "float32[4,5,6] int64[7,2]", {}, "float32[7,6]"),
    ("GatherND-12", "float32[4,5,6] int64[4,2]", {"batch_dims": 1}, "float32[4]"),
    ("Compress-9", "float32[4,5]", {"condition": (True, False, True)}, "float32[2]"),
    ("Compress-11", "int8[4,5]", {"condition": (True, False), "axis": -1}, "int8[4,1]"),
]
