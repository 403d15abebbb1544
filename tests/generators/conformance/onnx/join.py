"""Concat and Split."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Concat-4", "float32[2,3] float32[2,1]", {"axis": -1}, "out of range"),
    ("Concat-13", "float32[2,3] float32[3,1]", {"axis": 1}, "cannot be joined"),
    ("Concat-13", "float32[2] float32[2,1]", {"axis": 0}, "cannot be joined"),
    ("Split-13", "float32[7]", {"outputs": 3}, "has no 3 parts"),
    ("Split-13", "float32[7]", {"split": (3, 3), "outputs": 2}, "are no parts of 7"),
    ("Split-13", "float32[7]", {"split": (3, 4), "outputs": 3}, "2 sizes are not 3 results"),
    ("Split-18", "float32[6]", {"outputs": 2}, "either split or num_outputs"),
    ("Split-18", "float32[6]", {"outputs": 2, "num_outputs": 3}, "not the number of results"),
    ("Split-18", "float32[5]", {"outputs": 4, "num_outputs": 4}, "has no 4 parts"),
    ("Split-18", "float32[3]", {"outputs": 4, "num_outputs": 4}, "a size of 3 has no 4 parts"),
]

RESULTS: Table = [
    ("Concat-4", "float32[2,3] float32[2,1]", {"axis": 1}, "float32[2,4]"),
    ("Concat-11", "int8[2] int8[0] int8[3]", {"axis": -1}, "int8[5]"),
    ("Concat-13", "bool[2]", {"axis": 0}, "bool[2]"),
    ("Split-2", "float32[6,2]", {"outputs": 3}, "float32[2,2] float32[2,2] float32[2,2]"),
    ("Split-11", "float32[6,2]", {"axis": -2, "split": (1, 5), "outputs": 2}, "float32[1,2] float32[5,2]"),
    ("Split-13", "float32[6]", {"split": (0, 6), "outputs": 2}, "float32[0] float32[6]"),
    ("Split-18", "float32[7]", {"num_outputs": 3, "outputs": 3}, "float32[3] float32[3] float32[1]"),
]
