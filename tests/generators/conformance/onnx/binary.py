"""Arithmetic, bits, logic and comparisons of several tensors."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Add-7", "float32[2] float32[3]", {}, "do not broadcast"),
    ("Add-7", "float32[2] float16[2]", {}, "B must be float32"),
    ("Add-13", "int8[2] int8[2]", {}, "A cannot be int8"),  # new in opset 14
    ("Mod-13", "float32[2] float32[2]", {}, "fmod is 1 for floats"),
    ("Mod-13", "int8[2] int8[2]", {"fmod": 2}, "fmod must be 0 or 1 or null"),
    ("Pow-7", "float32[2] float64[2]", {}, "Y must be float32"),
    ("BitShift-11", "uint8[2] uint8[2]", {"direction": "UP"}, "direction must be one of LEFT, RIGHT"),
    ("Sum-6", "float32[2] float32[1]", {}, "the operands must have one shape before opset 8"),
    ("Max-6", "float64[2]", {}, "data_0 cannot be float64"),  # onnxruntime has no kernel
    ("Sum-13", "", {}, "takes 1 to 64 operands, not 0"),
    ("Less-7", "int32[2] int32[2]", {}, "A cannot be int32"),
    ("Equal-7", "float32[2] float32[2]", {}, "A cannot be float32"),
]

RESULTS: Table = [
    ("Add-7", "float32[2,1] float32[3]", {}, "float32[2,3]"),
    ("Sub-14", "uint8[] uint8[0]", {}, "uint8[0]"),
    ("Mul-13", "float32[5,1] float32[1,4]", {}, "float32[5,4]"),
    ("Div-14", "int8[2] int8[2]", {}, "int8[2]"),
    ("Mod-10", "int32[2] int32[1]", {}, "int32[2]"),
    ("Mod-13", "float16[2] float16[1]", {"fmod": 1}, "float16[2]"),
    ("Pow-12", "int32[2] float32[3,1]", {}, "int32[3,2]"),
    ("Pow-15", "float32[2] bfloat16[]", {}, "float32[2]"),
    ("BitShift-11", "uint8[2] uint8[1]", {"direction": "RIGHT"}, "uint8[2]"),
    ("Xor-7", "bool[2,1] bool[1,3]", {}, "bool[2,3]"),
    ("Sum-6", "float32[2] float32[2]", {}, "float32[2]"),
    ("Sum-8", "float32[2] float32[3,1] float32[]", {}, "float32[3,2]"),
    ("Mean-13", "float32[2]", {}, "float32[2]"),
    ("Max-12", "int64[2] int64[1]", {}, "int64[2]"),
    ("Less-9", "int32[2] int32[3,1]", {}, "bool[3,2]"),
    ("Equal-7", "bool[2] bool[2]", {}, "bool[2]"),
]
