"""Rows of several nodes with sequences and optional tensors between them."""

from __future__ import annotations

from conformance import Table

THREE = "float32[2,3] float32[] float32[4]"


REFUSED: Table = [
    ("SequenceAt-11", THREE, {"position": 3, "I": "int32"}, "position 3 is not within -3 and 2"),
    ("SequenceAt-11", "float32[2] int8[2]", {"position": 0, "I": "int32"}, "must be float32"),
    ("SequenceErase-11", THREE, {"I": "int64", "at": 2}, "position 2 is not within -2 and 1"),
    ("SequenceEmpty-11", "int8[2]", {"at": 0}, "a sequence of float32 takes no int8[2]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[1,3]", {"axis": 1}, "does not join"),
    ("SplitToSequence-11", "float32[2,5]", {"split": (1, 2), "axis": 1, "I": "int64", "at": 0}, "no sizes of pieces"),
    ("SplitToSequence-11", "float32[2]", {"split": 1, "keepdims": 0, "I": "int64", "at": 0}, "for pieces of size 1"),
    ("SplitToSequence-11", "int8[2]", {"I": "int64", "at": 0}, "cannot be int8"),
    ("OptionalGetElement-15", "bool[2]", {"wrapped": 0}, "before version 18"),
]

RESULTS: Table = [
    ("SequenceAt-11", THREE, {"position": -1, "I": "int32"}, "float32[4]"),
    ("SequenceLength-11", THREE, {}, "int64[]"),
    ("SequenceErase-11", THREE, {"position": 0, "I": "int64", "at": 0}, "float32[]"),
    ("SequenceErase-11", THREE, {"I": "int64", "at": -1}, "float32[]"),
    ("SequenceInsert-11", THREE, {"position": 1, "I": "int64", "at": 1}, "float32[2,3]"),
    ("SequenceInsert-11", THREE, {"position": -1, "I": "int64", "at": -1}, "float32[4]"),
    ("SequenceEmpty-11", "int8[2]", {"dtype": "int8", "at": 0}, "int8[2]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[2,1]", {"axis": -1}, "int8[2,4]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[2,3]", {"axis": -1, "new_axis": 1}, "int8[2,3,2]"),
    ("SplitToSequence-11", "float32[2,5]", {"axis": 1, "split": 2, "I": "int64", "at": -1}, "float32[2,1]"),
    ("SplitToSequence-11", "float32[2,5]", {"axis": 1, "split": (1, 4), "I": "int32", "at": 1}, "float32[2,4]"),
    ("SplitToSequence-24", "float32[2,5]", {"keepdims": 0, "I": "int64", "at": 0}, "float32[5]"),
    ("OptionalGetElement-15", "bool[2]", {}, "bool[2]"),
    ("OptionalHasElement-18", "", {"wrapped": 0}, "bool[]"),
]
