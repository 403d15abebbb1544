"""Rows of `unique`."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

ALL: Attrs = {"dim": None}


NOT_ASKED: Table = [
    ("unique_sum", "float32[2]", {"sorted": True, **ALL}, "is not defined for float32"),
    ("unique_sum", "int64[2]", {"sorted": True, "dim": 1}, "dim 1 is out of range for rank 1"),
    ("unique_inverse", "int64[]", {"dim": 0}, "a 0-d tensor has no slices"),
    ("unique_consecutive_sum", "int64[2,0]", {"dim": 0}, "slices of int64[2,0] are all alike"),
]
