"""Functions of one number."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Log-6", "bfloat16[2]", {}, "input cannot be bfloat16"),  # new in opset 13
    ("Acos-22", "float64[2]", {}, "input cannot be float64"),  # onnxruntime has no kernel
    ("Neg-13", "uint8[2]", {}, "X cannot be uint8"),
    ("Not-1", "float32[2]", {}, "X cannot be float32"),
    ("IsInf-10", "float32[2]", {"detect_negative": 2}, "detect_negative must be 0 or 1 or null"),
    ("Tanh-6", "float32[1] float32[1]", {}, "takes 1 to 1 operands, not 2"),
]

RESULTS: Table = [
    ("Log-6", "float16[2,3]", {}, "float16[2,3]"),
    ("Log-13", "bfloat16[0]", {}, "bfloat16[0]"),
    ("Neg-6", "int8[6,2]", {}, "int8[6,2]"),
    ("IsInf-10", "float64[4]", {"detect_negative": 0}, "bool[4]"),
    ("IsNaN-20", "float16[]", {}, "bool[]"),
    ("BitwiseNot-18", "uint8[2]", {}, "uint8[2]"),
    ("Identity-1", "bool[2]", {}, "bool[2]"),
]
