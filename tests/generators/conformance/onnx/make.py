"""Tensors that are made from sizes and numbers."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("ConstantOfShape-9", "", {"input": (-1,)}, "is no shape"),
    ("ConstantOfShape-9", "", {"input": (1,), "value": ("bfloat16", 0.5)}, "a value cannot be bfloat16"),
    ("ConstantOfShape-9", "", {"input": (1,), "value": ("int8", 300)}, "cannot hold 300"),
    ("ConstantOfShape-9", "", {"input": (1,), "value": ("int8", 0.5)}, "is no int8"),
    ("ConstantOfShape-9", "", {"input": (1,), "value": ("int8",)}, "value must be a dtype and a number"),
    ("EyeLike-9", "float32[2]", {}, "takes a matrix"),
    ("EyeLike-9", "float16[2,2]", {}, "a result cannot be float16"),
    ("Range-11", "", {"T": "int64", "start": 1, "limit": 8, "delta": 0}, "delta must not be 0"),
    ("Range-11", "", {"T": "int64", "start": 1, "limit": 8, "delta": 0.5}, "int64 cannot hold 0.5"),
    ("Range-11", "", {"T": "float32", "start": 0, "limit": 2**30, "delta": 1}, "are too many"),
    ("OneHot-9", "int64[2] float32[3]", {"T2": "int32", "depth": 4}, "takes two values"),
    ("OneHot-9", "int32[2] int64[2]", {"T2": "int64", "depth": 4}, "no reader has int32, int64 and a depth of int64"),
    ("OneHot-9", "int64[2] float32[2]", {"T2": "int32", "depth": 0}, "has no positions"),
]

RESULTS: Table = [
    ("ConstantOfShape-9", "", {"input": (2, 0)}, "float32[2,0]"),
    ("ConstantOfShape-20", "", {"input": (), "value": ("bfloat16", 0.5)}, "bfloat16[]"),
    ("ConstantOfShape-9", "", {"input": (2,), "value": ("bool", True)}, "bool[2]"),
    ("EyeLike-9", "float32[2,3]", {"k": -5}, "float32[2,3]"),
    ("EyeLike-22", "float16[2,3]", {"dtype": "int64"}, "int64[2,3]"),
    ("Range-11", "", {"T": "int64", "start": 1, "limit": 8, "delta": 3}, "int64[3]"),
    ("Range-11", "", {"T": "float32", "start": 1.0, "limit": 0.0, "delta": -0.25}, "float32[4]"),
    ("Range-11", "", {"T": "int16", "start": 0, "limit": 5, "delta": -1}, "int16[0]"),
    ("Range-11", "", {"T": "float64", "start": 1e308, "limit": -1e308, "delta": 1e-9}, "float64[0]"),
    ("OneHot-9", "int64[2,3] float32[2]", {"T2": "int32", "depth": 4}, "float32[2,3,4]"),
    ("OneHot-11", "float32[2,3] int64[2]", {"T2": "int64", "depth": 4, "axis": -3}, "int64[4,2,3]"),
]
