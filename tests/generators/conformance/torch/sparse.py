"""Rows of `sparse`."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

PLAIN: Attrs = {"beta": 1.0, "alpha": 1.0}


NOT_ASKED: Table = [
    ("sparse_mm", "bool[2,3] bool[3,2]", {}, "is not defined for bool"),
    ("sparse_mm", "float32[2,3] float64[3,2]", {}, "must share one dtype"),
    ("sparse_mm", "float32[2,3] float32[3]", {}, "takes matrices"),
    ("sparse_mm", "float32[2,3] float32[2,3]", {}, "have no product"),
    ("sparse_addmm", "int64[2,3] int64[3,2] int64[2,2]", PLAIN, "is not defined for int64"),
    ("sparse_addmm", "float32[2,3] float32[3,2] float32[2]", PLAIN, "only float32[2,2] is added"),
]
