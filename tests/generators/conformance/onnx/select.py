"""Conversions, Where, Clip and Trilu."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Cast-6", "float32[2]", {"to": "bfloat16"}, "Cast-6 has no bfloat16"),
    ("Cast-13", "float16[2]", {"to": "int4"}, "to must be a dtype"),
    ("Cast-19", "float32[2]", {"to": "int8", "saturate": 0}, "saturate must be 1 or null"),
    ("Cast-24", "float32[2]", {"to": "int8", "round_mode": "down"}, "round_mode must be one of up or null"),
    ("CastLike-24", "float32[2] int8[2]", {"round_mode": "up"}, "the interpreter of onnx refuses a round_mode"),
    ("Where-16", "float32[2] float32[2] float32[2]", {}, "condition cannot be float32"),
    ("Where-16", "bool[2] float32[3] float32[]", {}, "do not broadcast"),
    ("Clip-6", "float32[2]", {"min": 2.0, "max": 1.0}, "min must not be above max before opset 13"),
    ("Clip-12", "int8[2]", {"min": 2, "max": 1}, "min must not be above max before opset 13"),
    ("Clip-13", "uint8[2]", {"min": -1}, "uint8 cannot hold the bound -1"),
    ("Clip-13", "int8[2]", {"max": 0.5}, "int8 cannot hold the bound 0.5"),
    ("Trilu-14", "float32[2]", {}, "takes matrices"),
]

RESULTS: Table = [
    ("Cast-6", "float32[2]", {"to": "int8"}, "int8[2]"),
    ("Cast-13", "int64[6]", {"to": "uint8"}, "uint8[6]"),
    ("Cast-19", "bfloat16[]", {"to": "bool", "saturate": 1}, "bool[]"),
    ("Cast-24", "bool[2]", {"to": "float16", "round_mode": "up"}, "float16[2]"),
    ("CastLike-15", "float32[2] uint8[3,3]", {}, "uint8[2]"),
    ("Where-9", "bool[2,1] float32[3] float32[]", {}, "float32[2,3]"),
    ("Clip-6", "float16[2]", {"max": 2.0}, "float16[2]"),
    ("Clip-11", "float32[2]", {}, "float32[2]"),
    ("Clip-13", "uint8[2]", {"min": 255, "max": 0}, "uint8[2]"),
    ("Trilu-14", "bool[6,2,3]", {"k": -7, "upper": 0}, "bool[6,2,3]"),
]
