"""Control flow."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

BRANCH: Attrs = {"dim": 0, "bound": 2, "then": "negative", "other": "add"}
COND: Attrs = {"predicate": "any", "then": "negative", "other": "tanh"}
ITEM: Attrs = {"comparison": "ge", "bound": 2, "then": "negative", "other": "tanh"}
PARTS: Attrs = {"dim": 0, "body": "sin", "collect": "sum"}


NOT_ASKED: Table = [
    ("loop", "float32[3]", {"n": 0, "body": "sin"}, "takes 1 to 12 turns"),
    ("loop", "float32[3]", {"n": 10**9, "body": "sin"}, "takes 1 to 12 turns"),
    ("loop", "int64[3]", {"n": 1, "body": "sin"}, "sin is no body for int64[3]"),
    ("loop", "float32[3]", {"n": 1, "body": "add"}, "add is no body for float32[3]"),
    ("loop", "float32[3]", {"n": 1, "body": "x.data_ptr()"}, "body must be one of"),
    ("loop", "bool[3]", {"n": 1, "body": "negative"}, "is not defined for bool"),
    ("loop", "float32[3] float64[3]", {"n": 1, "body": "add"}, "must share one dtype"),
    ("loop", "float32[1] float32[3]", {"n": 1, "body": "add"}, "does not expand to float32[1]"),
    ("shape_branch", "float32[] float32[]", BRANCH, "ranks above 0"),
    ("shape_branch", "float32[2] float32[]", {**BRANCH, "dim": 1}, "out of range"),
    ("parts", "float32[0,3]", PARTS, "takes 1 to 12 parts, not 0"),
    ("parts", "float32[13,3]", PARTS, "takes 1 to 12 parts, not 13"),
    ("cond", "float32[] float32[3]", {**COND, "predicate": "sum"}, "sum is not exact for float32[]"),
    ("cond", "int64[3] float32[3]", COND, "any is not exact for int64[3]"),
    ("cond", "bool[1] float32[3]", {**COND, "predicate": "value"}, "takes a 0-d value"),
    ("cond_item", "int64[1] float32[3]", ITEM, "reads a whole number, not int64[1]"),
    ("cond_item", "float32[] float32[3]", ITEM, "reads a whole number, not float32[]"),
    ("cond_item", "int64[] float32[3]", {**ITEM, "comparison": "or"}, "comparison must be one of"),
    ("cond_size", "float32[]", {**ITEM, "dim": 0}, "ranks above 0"),
    ("cond_size", "float32[2]", {**ITEM, "dim": 1}, "out of range"),
    ("assert_async", "float32[2]", {"low": -4}, "are not all above -4"),
    ("assert_async", "int64[2]", {"low": -5}, "is not defined for int64"),
    ("while_loop", "int32[] float32[3]", {"n": 1, "body": "sin"}, "counts in int64[]"),
    ("while_loop", "int64[] float32[3]", {"n": 13, "body": "sin"}, "counts to 12 at most"),
]
