"""Reading at positions."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

BAG: Attrs = {"padding_idx": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False, "mode": "mean"}
ROW: Attrs = {key: value for key, value in BAG.items() if key != "mode"}


def index(text: str) -> Attrs:
    return {"index": tuple(text.split(" ; ")) if text else ()}


RAISED = (RuntimeError, IndexError, ValueError, AssertionError)
REFUSED: Table = [
    ("getitem", "float32[2,3]", index("0 ; 0 ; 0"), "too many indices"),
    ("getitem", "float32[]", index(":"), "too many indices"),
    ("getitem", "float32[2,3]", index("2"), "index 2 is out of range for size 2"),
    ("getitem", "float32[2,3]", index("[0, -3]"), "[0, -3] is out of range for size 2"),
    ("getitem", "float32[2,3] int16[2]", index("{1}"), "reading by mask"),
    ("getitem", "float32[2,2] int64[2] int64[3]", index("{1} ; {2}"), "do not broadcast"),
    ("getitem", "float32[2,3] int64[2]", index("{1} ; [0, 1, 2]"), "do not broadcast"),
    ("getitem", "float32[0,3] int64[2]", index("{1}"), "a dimension of size 0 has no positions"),
    ("gather", "float32[2,3] int64[2,4]", {"dim": 0}, "is larger than"),
    ("gather", "float32[2,3] int64[2]", {"dim": 0}, "has not the rank"),
    ("gather", "float32[2,3] int16[2,3]", {"dim": 0}, "is not defined for int16"),
    ("take", "float32[2,3] int32[2]", {}, "is not defined for int32"),
    ("take", "float32[0] int64[1]", {}, "nothing to take from"),
    ("take_along_dim", "float32[2,3] int32[2,3]", {"dim": 0}, "is not defined for int32"),
    ("take_along_dim", "float32[] int64[]", {"dim": 0}, "has not the rank"),
    ("take_along_dim", "float32[2,3] int64[2,2]", {"dim": 0}, "do not broadcast"),
    ("index_select", "float32[2,3] int64[1,1]", {"dim": 0}, "is no vector"),
    ("index_select", "float32[] int64[2]", {"dim": 0}, "one element"),
    ("index_select", "float32[0,2] int64[2]", {"dim": 0}, "a dimension of size 0"),
    ("embedding", "int64[2] float32[4]", ROW, "of rank 2"),
    ("embedding", "int64[2] float32[4,2]", {**ROW, "padding_idx": 4}, "within the 4 rows"),
    ("embedding_bag", "int64[2,3] int64[4,5]", BAG, "is not defined for int64"),
    ("embedding_bag", "int64[2,0] float32[4,5]", BAG, "takes bags of rank 2"),
    ("embedding_bag", "int64[2,3] float32[4,5]", {**BAG, "mode": "max", "sparse": True}, "neither gradient option"),
    ("embedding_bag", "int64[2,3] float32[4,5] float64[2,3]", {**BAG, "mode": "sum"}, "share one dtype"),
    ("masked_fill", "uint8[2] bool[2]", {"value": 256}, "uint8 cannot hold 256"),
    ("masked_fill", "float16[2] bool[2]", {"value": 7e4}, "too large for float16"),
    ("masked_fill", "float32[2] uint8[2]", {"value": 1}, "is not defined for uint8"),
    ("masked_fill_tensor", "float32[2] bool[2] float32[1]", {}, "must be 0-d"),
    ("masked_select_sum", "float32[2] bool[3]", {}, "do not broadcast"),
    ("getitem_mask_sum", "float32[2,3] bool[3]", {}, "does not fit"),
    ("where_axis_sum", "float32[2]", {"axis": 1}, "out of range"),
]

STRICTER: Table = [
    ("getitem", "float32[2,3]", index("... ; ..."), "an index takes one ellipsis"),
    ("getitem", "float32[2,3] bool[2]", index("{1}"), "reading by mask has no static shape"),
    # PyTorch flattens by view
    ("take_along_dim", "float32[2,3] int64[2]", {"dim": None}, "without a dim it takes ranks up to 1"),
]

RESULTS: Table = [
    ("gather", "int8[3,4] int32[7,2]", {"dim": 0}, "int8[7,2]"),
    ("gather", "int8[3,4] int64[0,9]", {"dim": 0}, "int8[0,9]"),
    ("gather", "bool[2] int64[]", {"dim": -1}, "bool[]"),
    ("take", "float16[2,3] int64[2,1,2]", {}, "float16[2,1,2]"),
    ("take_along_dim", "float32[3,1] int64[7,5]", {"dim": 0}, "float32[7,5]"),
    ("take_along_dim", "float32[3] int32[5]", {"dim": None}, "float32[5]"),
    ("take_along_dim", "float32[3] int64[]", {"dim": None}, "float32[1]"),
    ("index_select", "float32[2,3] int32[]", {"dim": -1}, "float32[2,1]"),
    ("index_select", "float32[2,3] int64[0]", {"dim": 0}, "float32[0,3]"),
    ("embedding", "int32[2,3] bfloat16[4,5]", ROW, "bfloat16[2,3,5]"),
    ("embedding", "int64[] int64[4,0]", {**ROW, "padding_idx": -4}, "int64[0]"),
    ("embedding_bag", "int64[2,3] float16[4,5]", BAG, "float16[2,5]"),
    ("embedding_bag", "int64[0,3] float32[4,5]", {**BAG, "mode": "max"}, "float32[0,5]"),
    ("embedding_bag", "int64[2,3] float32[4,5] float32[2,3]", {**BAG, "mode": "sum"}, "float32[2,5]"),
    ("masked_fill", "uint8[3] bool[2,1]", {"value": 1.5}, "uint8[2,3]"),
    ("masked_fill_tensor", "int64[2,3] bool[3] float32[]", {}, "int64[2,3]"),
    ("masked_select_sum", "int8[3] bool[2,1]", {}, "int64[]"),
    ("getitem_mask_sum", "bool[2,3,4] bool[2,3]", {}, "int64[4]"),
    ("getitem_mask_sum", "float32[] bool[]", {}, "float32[]"),
    ("nonzero_sum", "float32[]", {}, "int64[0]"),
    ("argwhere_sum", "bool[2,3,4]", {}, "int64[3]"),
    ("nonzero_axis_sum", "float32[]", {"axis": -1}, "int64[]"),
    ("where_axis_sum", "bfloat16[2,0]", {"axis": 1}, "int64[]"),
]
