"""Rows of `sort` and `search`."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("sort", "float32[2,3]", {"dim": 2}, "dim 2 is out of range for rank 2"),
    ("argsort_stable", "float32[]", {"dim": 1}, "dim 1 is out of range for rank 0"),
    ("topk", "float32[3]", {"k": 4}, "there are no 4 largest of 3"),
    ("topk", "bool[3]", {"k": 1}, "is not defined for bool"),
    ("topk_values", "float32[0,3]", {"k": 1, "dim": 0}, "there are no 1 largest of 0"),
    ("kthvalue", "float32[3]", {"k": 0}, "there is no number 0 of 3"),
    ("kthvalue_values", "float32[2,3]", {"k": 3, "dim": 0}, "there is no number 3 of 2"),
    ("median", "bool[2]", {}, "is not defined for bool"),
    ("nanmedian_dim", "float32[0,3]", {"dim": 0}, "there is no such element"),
    ("cummax", "float32[2]", {"dim": 1}, "dim 1 is out of range for rank 1"),
    ("searchsorted", "float32[] float32[2]", {}, "takes a sequence, not a number"),
    ("searchsorted", "float32[2,3] float32[3,3]", {}, "differ in more than the last dimension"),
    ("searchsorted", "bool[3] bool[2]", {}, "is not defined for bool"),
    ("searchsorted", "float32[3] float32[2]", {"side": "left", "right": True}, "must not be opposites"),
    ("searchsorted_number", "float32[2,3]", {"input": 1}, "takes a vector"),
    ("bucketize", "float32[2] float32[2,3]", {}, "takes a vector of boundaries"),
    ("isin", "bool[2] float32[2]", {}, "is not defined for bool"),
]

STRICTER: Table = [
    ("topk_values", "float32[]", {"k": 0}, "there are no 0 largest"),
    ("median", "int32[0]", {}, "there is no such element"),
    ("isin", "float32[2] float32[2,3]", {}, "takes a list of tests"),
    ("isin_number", "int8[2]", {"test_element": 300}, "int8 cannot hold 300"),
    ("number_isin", "uint8[2]", {"element": -1}, "uint8 cannot hold -1"),
]

RESULTS: Table = [
    ("sort", "bool[2,3]", {"dim": 0, "descending": True, "stable": True}, "bool[2,3] int64[2,3]"),
    ("sort", "float32[]", {}, "float32[] int64[]"),
    ("sort_stable", "uint8[2,0]", {}, "uint8[2,0] int64[2,0]"),
    ("sort_values", "float16[3]", {"stable": True}, "float16[3]"),
    ("argsort", "int8[2,3]", {"dim": -2}, "int64[2,3]"),
    ("argsort_stable", "bool[2]", {"descending": True}, "int64[2]"),
    ("msort", "bool[]", {}, "bool[]"),
    ("topk", "int8[2,3]", {"k": 0, "dim": 0}, "int8[0,3] int64[0,3]"),
    ("topk", "float32[]", {"k": 1, "sorted": False}, "float32[] int64[]"),
    ("topk_values", "float16[0,3]", {"k": 3, "largest": False}, "float16[0,3]"),
    ("kthvalue", "uint8[2,3]", {"k": 3, "keepdim": True}, "uint8[2,1] int64[2,1]"),
    ("kthvalue_values", "float32[]", {"k": 1}, "float32[]"),
    ("median", "int8[2,2]", {}, "int8[]"),
    ("nanmedian_dim", "bfloat16[0,3]", {"dim": 1, "keepdim": True}, "bfloat16[0,1] int64[0,1]"),
    ("median_dim_values", "int16[2,3]", {"dim": -2}, "int16[3]"),
    ("cummin", "bool[2,0]", {"dim": 1}, "bool[2,0] int64[2,0]"),
    ("searchsorted", "float32[0] bool[2,3]", {"side": "right", "out_int32": True}, "int32[2,3]"),
    ("searchsorted", "int8[2,3] float16[2,0]", {}, "int64[2,0]"),
    ("searchsorted", "int8[3] float16[]", {"right": True, "side": "right"}, "int64[]"),
    ("searchsorted_number", "bool[3]", {"input": 0.5}, "int64[]"),
    ("bucketize", "int64[] float32[3]", {"right": True}, "int64[]"),
    ("bucketize_number", "int8[3]", {"input": 2.5, "out_int32": True}, "int32[]"),
    ("isin", "float16[2,3] int8[]", {"invert": True}, "bool[2,3]"),
    ("isin_number", "int8[]", {"test_element": 1.5, "assume_unique": True}, "bool[]"),
    ("number_isin", "uint8[0]", {"element": 3}, "bool[]"),
]
