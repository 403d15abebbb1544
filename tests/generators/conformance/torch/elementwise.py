"""Functions of one tensor, and casts."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError,)
REFUSED: Table = [
    ("neg", "bool[2]", {}, "is not defined for bool"),
    ("floor", "bool[2]", {}, "is not defined for bool"),
    ("frac", "int64[2]", {}, "is not defined for int64"),
    ("bitwise_not", "float32[2]", {}, "is not defined for float32"),
    ("round", "int32[2]", {"decimals": 1}, "integers are not rounded to decimals"),
    ("round", "bool[2]", {"decimals": 0}, "is not defined for bool"),
    ("logit", "float16[2]", {"eps": 1e6}, "too large for float16"),
    ("clamp", "float16[2]", {"max": 1e6}, "too large for float16"),
    ("clamp", "float32[2]", {"min": -1e39}, "too large for float32"),
]

RESULTS: Table = [
    ("sin", "int64[2]", {}, "float32[2]"),
    ("sin", "bool[]", {}, "float32[]"),
    ("sin", "bfloat16[0]", {}, "bfloat16[0]"),
    ("square", "bool[2]", {}, "int64[2]"),
    ("square", "int8[2]", {}, "int8[2]"),
    ("sgn", "bool[2]", {}, "bool[2]"),
    ("isnan", "uint8[2]", {}, "bool[2]"),
    ("type_as", "int64[2,3] float16[]", {}, "float16[2,3]"),
]
