"""Attention of ONNX."""

from __future__ import annotations

from conformance import Table

FOUR = "float32[2,4,3,8] float32[2,2,5,8] float32[2,2,5,6]"
THREE = "float16[2,3,32] float16[2,5,16] float16[2,5,12]"
PAST = f"{FOUR} float32[2,2,1,8] float32[2,2,1,6]"
WITH_PAST = {"inputs": (True, True, True, False, True, True)}
ALL = {"outputs": (True, True, True, True)}


REFUSED: Table = [
    ("Attention-23", FOUR, {"q_num_heads": 4}, "q_num_heads is for rank 3"),
    ("Attention-23", THREE, {}, "q_num_heads is needed"),
    ("Attention-23", THREE, {"q_num_heads": 5, "kv_num_heads": 2}, "does not split into 5 heads"),
    ("Attention-23", FOUR.replace("[2,4,", "[2,3,"), {}, "do not fit"),
    ("Attention-23", f"{FOUR} float32[3,4]", {}, "is no mask for"),
    ("Attention-23", f"{FOUR} float16[3,5]", {}, "has another dtype than"),
    ("Attention-23", PAST, WITH_PAST, "the present is wanted"),
    ("Attention-23", FOUR, {"outputs": (True, True, False, False)}, "are wanted together"),
    ("Attention-23", FOUR, {"softcap": 1.0, **ALL}, "the readers disagree"),
    ("Attention-23", FOUR.replace("float32", "float64"), {}, "Q cannot be float64"),
    ("Attention-23", FOUR, {"scale": -1.0}, "scale must be positive"),
]

RESULTS: Table = [
    ("Attention-23", FOUR, {}, "float32[2,4,3,6]"),
    ("Attention-23", f"{FOUR} bool[4,3,5]", {}, "float32[2,4,3,6]"),
    ("Attention-23", THREE, {"q_num_heads": 4, "kv_num_heads": 2}, "float16[2,3,24]"),
    ("Attention-23", PAST, {**WITH_PAST, **ALL}, "float32[2,4,3,6] float32[2,2,6,8] float32[2,2,6,6] float32[2,4,3,6]"),
]
