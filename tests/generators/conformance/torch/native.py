"""Rows of `native`: operators of aten whose further results are used."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attr

NUMBERS: dict[str, Attr] = {"momentum": 0.25, "eps": 1e-5}


RAISED = (RuntimeError,)
REFUSED: Table = [
    ("native_group_norm", "float32[2,3,4]", {"group": 2, "eps": 0.1}, "3 channels do not split into 2 groups"),
]

STRICTER: Table = [
    ("native_dropout", "float32[2]", {"p": 1.5}, "p must be a probability"),
]

RESULTS: Table = [
    (
        "native_layer_norm",
        "float32[2,4,3] float32[4,3]",
        {"normalized_shape": (4, 3), "eps": 1e-5},
        "float32[2,4,3] float32[2,1,1] float32[2,1,1]",
    ),
    (
        "native_layer_norm",
        "float16[2,3] float32[3] float32[3]",
        {"normalized_shape": (3,), "eps": 1e-5},
        "float16[2,3] float32[2,1] float32[2,1]",
    ),
    (
        "native_group_norm",
        "bfloat16[2,4,3]",
        {"group": 2, "eps": 1e-5},
        "bfloat16[2,4,3] bfloat16[2,2] bfloat16[2,2]",
    ),
    ("native_batch_norm_batch_stats", "float32[2,4] float32[4]", NUMBERS, "float32[2,4] float32[4] float32[4]"),
    ("native_dropout", "float64[2,1]", {"p": 0.5}, "float64[2,1] bool[2,1]"),
    ("native_dropout_training", "float16[]", {"p": 1.0}, "float16[] bool[]"),
]
