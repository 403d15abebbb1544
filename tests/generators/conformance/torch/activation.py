"""Activations."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError, IndexError, ValueError)
REFUSED: Table = [
    ("relu", "bool[2]", {}, "is not defined for bool"),
    ("gelu", "int64[2]", {"approximate": "none"}, "is not defined for int64"),
    ("softsign", "bool[2]", {}, "is not defined for bool"),
    ("celu", "float32[2]", {"alpha": 0}, "alpha is not 0"),
    ("softshrink", "float32[2]", {"lambd": -0.5}, "lambd is not negative"),
    ("hardtanh", "float32[2]", {"min_val": 1, "max_val": 0}, "min_val is at most max_val"),
    ("hardtanh", "uint8[2]", {"min_val": -1, "max_val": 1}, "uint8 cannot hold -1"),
    ("hardtanh", "int8[2]", {"min_val": -1, "max_val": 300}, "int8 cannot hold 300"),
    ("rrelu", "float32[2]", {"lower": 0.5, "upper": 0.25}, "lower is at most upper"),
    ("prelu", "float32[2] float32[2]", {}, "does not fit"),
    ("prelu", "float32[2,3] float32[2]", {}, "does not fit"),
    ("prelu", "float32[2,3] float32[1,1]", {}, "rank 0 or 1"),
    ("prelu", "float32[2,3] float64[3]", {}, "must share one dtype"),
    ("prelu", "int32[2,3] int32[3]", {}, "is not defined for int32"),
    ("glu", "float32[2,3]", {"dim": 1}, "size 3 has no two halves"),
    ("glu", "float32[2,3]", {"dim": 2}, "dim 2 is out of range"),
    ("glu", "float32[]", {"dim": -1}, "a rank above 0"),
]

RESULTS: Table = [
    ("sigmoid", "bool[2]", {}, "float32[2]"),
    ("relu6", "uint8[2]", {}, "uint8[2]"),
    ("tanhshrink", "int8[2]", {}, "float32[2]"),
    ("hardtanh", "uint8[2]", {"min_val": 0, "max_val": 6.0}, "uint8[2]"),
    ("threshold", "int64[]", {"threshold": 2, "value": 7}, "int64[]"),
    ("prelu", "float32[] float32[1]", {}, "float32[]"),
    ("prelu", "float16[2,0] float16[0]", {}, "float16[2,0]"),
    ("prelu", "float32[2] float32[]", {}, "float32[2]"),
    ("glu", "bfloat16[2,0]", {"dim": -1}, "bfloat16[2,0]"),
    ("glu", "float32[4,3]", {"dim": -2}, "float32[2,3]"),
]
