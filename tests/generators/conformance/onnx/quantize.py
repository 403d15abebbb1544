"""Quantisation."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("QuantizeLinear-10", "float32[2,3] float32[3]", {}, "is no scale of"),
    ("QuantizeLinear-13", "float32[2,3] float32[3]", {"axis": 0}, "is no scale of a dimension"),
    ("QuantizeLinear-13", "float32[2,3] float32[3] int8[]", {}, "has another shape than"),
    ("QuantizeLinear-13", "float32[2,3] float32[3]", {"axis": 2}, "axis 2 is out of range"),
    ("QuantizeLinear-21", "float32[2,3] float32[] int8[]", {"output_dtype": "uint8"}, "is not that of"),
    ("QuantizeLinear-23", "float32[2,3] float16[]", {}, "has another dtype than"),
    ("QuantizeLinear-25", "float32[2,5] float32[2,2]", {"block_size": 2}, "is no scale of blocks of 2"),
    ("DequantizeLinear-23", "int8[2,3] float16[]", {"output_dtype": "float32"}, "the dtype of the scale"),
]

RESULTS: Table = [
    ("QuantizeLinear-10", "float32[2,3] float32[]", {}, "uint8[2,3]"),
    ("QuantizeLinear-13", "float32[2,3] float32[2] int8[2]", {"axis": 0}, "int8[2,3]"),
    ("QuantizeLinear-21", "float16[2,3] float16[]", {"output_dtype": "int16"}, "int16[2,3]"),
    ("QuantizeLinear-25", "float32[2,5] float32[2,3]", {"block_size": 2, "axis": -1}, "uint8[2,5]"),
    ("DequantizeLinear-10", "int32[2,3] float32[1]", {}, "float32[2,3]"),
    ("DequantizeLinear-19", "int8[2,3] float16[3] int8[3]", {}, "float16[2,3]"),
    ("DynamicQuantizeLinear-11", "float32[2,3]", {}, "uint8[2,3] float32[] uint8[]"),
]
