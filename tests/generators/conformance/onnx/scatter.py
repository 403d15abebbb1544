"""Scatters."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Scatter-9", "float32[4] int64[2] float32[3]", {}, "have other sizes"),
    ("ScatterElements-13", "float32[4,5] int64[5,1] float32[5,1]", {"axis": 1}, "is larger than"),
    ("ScatterElements-16", "float32[4] int64[2] float32[2]", {"reduction": "max"}, "has no reduction max"),
    ("ScatterElements-18", "float32[4] int64[2] float32[2]", {"reduction": "mean"}, "reduction must be one of none"),
    ("ScatterND-13", "float32[4,5] int64[2,1] float32[2]", {}, "should have the sizes"),
]

RESULTS: Table = [
    ("Scatter-9", "float32[4,5] int64[2,5] float32[2,5]", {}, "float32[4,5]"),
    ("ScatterElements-11", "int8[4,5] int32[4,2] int8[4,2]", {"axis": -1}, "int8[4,5]"),
    ("ScatterElements-18", "float32[4] int64[9] float32[9]", {"reduction": "max"}, "float32[4]"),
    ("ScatterND-11", "float32[4,5,6] int64[3,2] float32[3,6]", {}, "float32[4,5,6]"),
    ("ScatterND-16", "float32[4] int64[9,1] float32[9]", {"reduction": "add"}, "float32[4]"),
    ("ScatterND-18", "float32[4] int64[1] float32[]", {}, "float32[4]"),
]
