"""Rows of `item`."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

ADDED: Attrs = {"number": "item", "use": "add"}
HALVED: Attrs = {"number": "floordiv", "use": "mul"}


NOT_ASKED: Table = [
    ("with_item", "uint8[2] int64[]", ADDED, "is not defined for uint8"),
    ("with_item", "bool[2] int64[]", ADDED, "is not defined for bool"),
    ("with_item", "float32[2] bool[]", ADDED, "is not defined for bool"),
    ("with_item", "float32[2] int64[1]", ADDED, "one number is read, not int64[1]"),
    ("with_item", "float32[2] int64[]", HALVED, "number must be one of"),
    ("with_whole_item", "float32[2] float32[]", HALVED, "is not defined for float32"),
]
