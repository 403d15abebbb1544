"""Rows of `creation` and `ranges`."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs


def ranging(start: float, end: float, step: float, dtype: str | None = None) -> Attrs:
    return {"start": start, "end": end, "step": step, "dtype": dtype}


def line(start: float, end: float, steps: int, dtype: str | None = None) -> Attrs:
    return {"start": start, "end": end, "steps": steps, "dtype": dtype}


RAISED = (RuntimeError,)
REFUSED: Table = [
    ("full", "", {"size": (-1,), "fill_value": 1, "dtype": None}, "sizes [-1] must not be negative"),
    ("full", "", {"size": (2,), "fill_value": 128, "dtype": "int8"}, "int8 cannot hold 128"),
    ("full", "", {"size": (2,), "fill_value": -0.5, "dtype": "uint8"}, "uint8 cannot hold -0.5"),
    ("full", "", {"size": (2,), "fill_value": 1e6, "dtype": "float16"}, "1000000.0 is too large for float16"),
    ("fill", "int8[2]", {"value": 300}, "int8 cannot hold 300"),
    ("fill_tensor", "int8[2] int8[1]", {}, "fills with a 0-d tensor"),
    ("constant", "", {"data": (1, 300), "dtype": "uint8"}, "uint8 cannot hold 300"),
    ("arange", "", ranging(0, 3, 0), "step must not be zero"),
    ("arange", "", ranging(0, 3, -1), "step -1 leads away from 3"),
    ("arange", "", ranging(0, 3, 1, "bool"), "arange is not defined for bool"),
    ("linspace", "", line(0, 3, -1), "steps must not be negative"),
    ("linspace", "", line(0, 3, 4, "bool"), "is not defined for bool"),
    ("eye", "", {"n": -1, "m": None, "dtype": None}, "must not be negative"),
    ("tril_indices", "", {"row": 3, "col": 3, "offset": 0, "dtype": "int8"}, "is not defined for int8"),
    ("hann_window", "", {"window_length": -1, "periodic": True, "dtype": None}, "must not be negative"),
    ("kaiser_window", "", {"window_length": 3, "periodic": True, "beta": 12.0, "dtype": "int8"}, "not defined"),
    ("one_hot", "int32[2]", {"num_classes": 3}, "is not defined for int32"),
]

RESULTS: Table = [
    ("full", "", {"size": (), "fill_value": True, "dtype": None}, "bool[]"),
    ("full", "", {"size": (0, 2), "fill_value": 1, "dtype": None}, "int64[0,2]"),
    ("full", "", {"size": (2,), "fill_value": 0.5, "dtype": None}, "float32[2]"),
    ("full", "", {"size": (2,), "fill_value": -255, "dtype": "uint8"}, "uint8[2]"),
    ("full_like", "int8[2]", {"fill_value": 2.5, "dtype": None}, "int8[2]"),
    ("new_full", "bool[2]", {"size": (3,), "fill_value": 2.5, "dtype": None}, "bool[3]"),
    ("new_ones", "bool[2]", {"size": (3,), "dtype": "float16"}, "float16[3]"),
    ("empty", "", {"size": (3,), "value": 1, "dtype": None}, "float32[3]"),
    ("fill_tensor", "int8[2] float64[]", {}, "int8[2]"),
    ("constant", "", {"data": (), "dtype": None}, "float32[0]"),
    ("constant", "", {"data": (True, 2), "dtype": None}, "int64[2]"),
    ("constant", "", {"data": (True, 2.5), "dtype": None}, "float32[2]"),
    ("constant", "", {"data": False, "dtype": None}, "bool[]"),
    ("scalar_tensor", "", {"s": 2, "dtype": None}, "float32[]"),
    ("arange", "", ranging(5, 0, -2), "int64[3]"),
    ("arange", "", ranging(0.0, 2, 1), "float32[2]"),
    ("arange", "", ranging(0, 0.3, 0.1), "float32[3]"),
    ("arange", "", ranging(0, 0.7, 0.1), "float32[7]"),
    ("linspace", "", line(0, 3, 0), "float32[0]"),
    ("linspace", "", line(3, -3, 7, "int8"), "int8[7]"),
    ("eye", "", {"n": 0, "m": 2, "dtype": "bool"}, "bool[0,2]"),
    ("blackman_window", "", {"window_length": 0, "periodic": False, "dtype": None}, "float32[0]"),
    ("one_hot", "int64[]", {"num_classes": 2}, "int64[2]"),
]
