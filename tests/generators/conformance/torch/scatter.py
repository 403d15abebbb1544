"""Writing at positions."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

DIM0: Attrs = {"dim": 0}
SLICE: Attrs = {"dim": 0, "start": None, "end": None, "step": 1}
DIAGONAL: Attrs = {"offset": 0, "dim1": 0, "dim2": 1}


def index(text: str, **more: bool | int | float | str) -> Attrs:
    return {"index": tuple(text.split(" ; ")) if text else (), **more}


def reduce(name: str, include_self: bool = True) -> Attrs:
    return {"dim": 0, "reduce": name, "include_self": include_self}


NUMBER = 0
"""PyTorch gets zeros, which are valid positions in every dimension."""

REFUSED: Table = [
    ("scatter", "float32[2,3] int64[2,3] float64[2,3]", {"dim": 0, "reduce": None}, "share one dtype"),
    ("scatter", "float32[2,3] int64[2,4] float32[2,4]", {"dim": 0, "reduce": None}, "is larger than float32[2,3]"),
    ("scatter_add", "float32[2,3] int64[2,3] float32[2,2]", DIM0, "is larger than its source"),
    ("scatter_add", "float32[2,3] int8[2,3] float32[2,3]", DIM0, "is not defined for int8"),
    ("scatter_add", "float32[0,3] int64[1,3] float32[1,3]", DIM0, "a dimension of size 0"),
    ("scatter_value", "int8[2] int64[2]", {"dim": 0, "value": 300, "reduce": None}, "int8 cannot hold 300"),
    ("scatter_reduce", "bool[2] int64[2] bool[2]", reduce("mean"), "no mean of booleans"),
    ("index_add", "float32[2,3] int64[2] float32[2,2]", {"dim": 0, "alpha": 1}, "must be float32[2,3]"),
    ("index_add", "float32[2,3] int64[2,1] float32[2,3]", {"dim": 0, "alpha": 1}, "is no vector"),
    ("index_copy", "float32[2,3] int32[2] float32[2,3]", DIM0, "is not defined for int32"),
    ("index_reduce", "bool[2] int64[2] bool[2]", reduce("amax"), "is not defined for bool"),
    ("index_reduce", "bool[2,2] int64[2] bool[2,2]", reduce("amax", False), "is not defined for bool"),
    ("index_prod", "float16[2,1] int64[2] float16[2,1]", {"dim": 0, "include_self": True}, "no slices of float16"),
    ("index_fill", "float32[2] int32[2]", {"dim": 0, "value": 1}, "is not defined for int32"),
    ("index_fill_tensor", "float32[2] int64[2] float32[1]", DIM0, "must be 0-d"),
    ("put", "float32[2,3] int64[2,2] float32[2]", {"accumulate": True}, "has not as many elements"),
    ("put", "float32[0] int64[1] float32[1]", {"accumulate": True}, "nowhere to put"),
    ("index_put", "float32[2,3] float32[1,1,3] int64[2]", {"accumulate": False}, "does not fit (2, 3)"),
    ("index_put", "float32[2,3] float64[3] int64[2]", {"accumulate": False}, "share one dtype"),
    ("index_put", "float32[2,3] float64[1] bool[2,3]", {"accumulate": True}, "share one dtype"),
    ("index_put", "float32[2] float32[] int64[2] int64[2]", {"accumulate": False}, "too many indices"),
    ("setitem", "float32[2,3] float32[2,3]", index("0"), "does not fit (3,)"),
    ("setitem", "float32[2,3] float32[2]", index("2:1"), "does not fit (0, 3)"),
    ("setitem", "float32[2,3] float64[] int64[2]", index("{2}"), "share one dtype"),
    ("setitem", "float32[2,3,4] float64[4] bool[2]", index("{2}"), "share one dtype"),
    ("setitem_scalar", "float32[2,3] bool[3]", index("{1}", value=1), "a mask bool[3] does not fit the sizes (2,)"),
    ("setitem_scalar", "uint8[2,3]", index("0", value=256), "uint8 cannot hold 256"),
    ("setitem_update", "float32[2,3] float32[1,3]", index("0", operator="+="), "does not fit (3,)"),
    ("setitem_update", "int64[2,3] float32[]", index("0", operator="+="), "float32 cannot be cast to int64"),
    ("setitem_update", "float32[2] bool[2]", index(":", operator="-="), "have no difference"),
    ("copy", "float32[2] float32[1,2]", {"non_blocking": False}, "does not expand"),
    ("fill_diagonal", "float32[2]", {"fill_value": 1, "wrap": False}, "takes rank 2 or more"),
    ("fill_diagonal", "float32[2,2,3]", {"fill_value": 1, "wrap": False}, "dimensions of one size"),
    ("slice_scatter", "float32[4] float32[1]", SLICE, "must be of shape [4]"),
    ("slice_scatter", "float32[4] float32[4]", {**SLICE, "step": 0}, "a positive step"),
    ("select_scatter", "float32[2,3] float32[1,3]", {"dim": 0, "index": 0}, "must be of shape [3]"),
    ("select_scatter", "float32[2,3] float32[3]", {"dim": 0, "index": 2}, "out of range for size 2"),
    ("diagonal_scatter", "float32[2,3] float32[3]", DIAGONAL, "must be of shape [2]"),
    ("diagonal_scatter", "float32[2,3] float32[2]", {**DIAGONAL, "dim2": -2}, "repeat an axis"),
]

STRICTER: Table = [
    ("setitem", "float32[2] float32[2]", index("[0, 0]"), "[0, 0] names one twice"),
    ("index_add", "int64[2] int64[3] int64[3]", {"dim": 0, "alpha": 0.5}, "alpha must be an integer"),
    (
        "index_add",
        "float32[0,3] int64[2] float32[2,3]",
        {"dim": 0, "alpha": 1},
        "a dimension of size 0 has no positions",
    ),
    ("masked_scatter", "float32[2,3] bool[3] float32[5]", {}, "may have too few elements"),
    (
        "setitem_scalar",
        "float32[2,3] bool[2] int64[1]",
        index("{1} ; {2}", value=1),
        "a mask selects a number of elements that nothing else is known to have",
    ),
    (
        "index_prod",
        "bfloat16[6,6] int64[3] bfloat16[6,3]",
        {"dim": -1, "include_self": True},
        "multiplies no slices of bfloat16",
    ),
]
