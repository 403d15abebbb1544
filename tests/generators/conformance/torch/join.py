"""Join."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError,)
REFUSED: Table = [
    ("cat", "float32[2,3] float32[3,3]", {"dim": 1}, "along 1"),
    ("cat", "float32[2,3] float32[2]", {"dim": 0}, "of one rank above 0"),
    ("cat", "float32[] float32[]", {"dim": 0}, "of one rank above 0"),
    ("cat", "float32[0] float32[]", {"dim": 0}, "of one rank above 0"),
    ("stack", "float32[2] float32[3]", {"dim": 0}, "one shape"),
    ("vstack", "float32[0] float32[2,1]", {}, "along 0"),
    ("hstack", "float32[2] float32[2,3]", {}, "of one rank above 0"),
    ("block_diag", "float32[2,1,1]", {}, "at most matrices"),
    ("split", "float32[5]", {"sizes": (2, 2), "dim": 0}, "do not add up to 5"),
    ("split", "float32[]", {"sizes": (1,), "dim": 0}, "a rank above 0"),
    ("split_size", "float32[5]", {"split_size_or_sections": 0, "dim": 0}, "5 cannot be split by 0"),
    ("split_size", "float32[5]", {"split_size_or_sections": -1, "dim": 0}, "5 cannot be split by -1"),
    ("chunk", "float32[5]", {"chunks": 0, "dim": 0}, "chunks must be a positive number"),
    ("tensor_split", "float32[5]", {"indices_or_sections": 0, "dim": 0}, "sections must be a positive number"),
    ("hsplit", "float32[2,4]", {"indices_or_sections": 3}, "3 sections do not divide 4"),
    ("vsplit", "float32[4]", {"indices_or_sections": 2}, "vsplit takes rank 2 or more"),
    ("meshgrid", "float32[2] int64[2]", {"indexing": "ij"}, "must share one dtype"),
    ("meshgrid", "float32[2] float32[2,2]", {"indexing": "ij"}, "vectors and 0-d tensors"),
    ("broadcast_tensors", "float32[2] float32[3]", {}, "do not broadcast"),
]

RESULTS: Table = [
    ("cat", "bool[2] float64[1] int64[3]", {"dim": 0}, "float64[6]"),
    ("cat", "uint8[2] int8[1]", {"dim": -1}, "int16[3]"),
    ("cat", "float64[0] float32[2,3]", {"dim": -2}, "float64[2,3]"),
    ("cat", "float32[0] float32[1,0]", {"dim": 1}, "float32[1,0]"),
    ("stack", "float16[] bfloat16[]", {"dim": -1}, "float32[2]"),
    ("hstack", "int8[2] int64[]", {}, "int64[3]"),
    ("vstack", "float32[3] float32[2,3]", {}, "float32[3,3]"),
    ("dstack", "float32[3] float32[1,3,2]", {}, "float32[1,3,3]"),
    ("column_stack", "int8[3] float16[3,4]", {}, "float16[3,5]"),
    ("block_diag", "float64[] float16[3] int8[0,2]", {}, "float16[2,6]"),
    ("split", "float32[3]", {"sizes": (0, 3), "dim": -1}, "float32[0] float32[3]"),
    ("split_size", "float32[5]", {"split_size_or_sections": 2, "dim": 0}, "float32[2] float32[2] float32[1]"),
    ("split_size", "float32[0]", {"split_size_or_sections": 0, "dim": 0}, "float32[0]"),
    ("chunk", "float32[6]", {"chunks": 4, "dim": 0}, "float32[2] float32[2] float32[2]"),
    ("chunk", "float32[0]", {"chunks": 2, "dim": 0}, "float32[0] float32[0]"),
    ("tensor_split", "int8[2]", {"indices_or_sections": 3, "dim": 0}, "int8[1] int8[1] int8[0]"),
    ("tensor_split", "int8[5]", {"indices_or_sections": (3, 1, -9), "dim": 0}, "int8[3] int8[0] int8[0] int8[5]"),
    ("vsplit", "bool[4,2]", {"indices_or_sections": (-1,)}, "bool[3,2] bool[1,2]"),
    ("unbind", "bool[2,1]", {"dim": -1}, "bool[2]"),
    ("meshgrid", "float32[2] float32[] float32[4]", {"indexing": "xy"}, " ".join(["float32[1,2,4]"] * 3)),
    ("broadcast_tensors", "float32[2,1] int64[0]", {}, "float32[2,0] int64[2,0]"),
]
