"""Attention."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

PLAIN: Attrs = {"is_causal": False, "scale": None, "enable_gqa": False}
LAYER: Attrs = {
    "num_heads": 2,
    "batch_first": False,
    "add_zero_attn": False,
    "need_weights": True,
    "average_attn_weights": True,
}

OWNED = "float32[12,4] float32[12] float32[4,4] float32[4]"


def attention(**given: bool | float) -> Attrs:
    return {**PLAIN, **given}


def layer(**given: bool | int) -> Attrs:
    return {**LAYER, **given}


SDPA = "scaled_dot_product_attention"


RAISED = (RuntimeError, IndexError, AssertionError)
REFUSED: Table = [
    (SDPA, "float32[4] float32[4] float32[4]", PLAIN, "ranks of 2 and more"),
    (SDPA, "int64[3,4] int64[5,4] int64[5,4]", PLAIN, "is not defined for int64"),
    (SDPA, "float32[3,4] float64[5,4] float32[5,4]", PLAIN, "must share one dtype"),
    (SDPA, "float32[3,4] float32[5,3] float32[5,4]", PLAIN, "must have equal features"),
    (SDPA, "float32[3,4] float32[5,4] float32[5,4]", attention(enable_gqa=True), "ranks of 3 and more"),
    (SDPA, "float32[1,4,3,4] float32[1,3,5,4] float32[1,3,5,4]", attention(enable_gqa=True), "into 3 groups"),
    (SDPA, "float32[2,3,4] float32[3,5,4] float32[3,5,4]", PLAIN, "do not broadcast"),
    (SDPA, "float32[2,3,4] float32[2,5,4] float32[2,5,4] float64[3,5]", PLAIN, "is no mask"),
    (SDPA, "float32[2,3,4] float32[2,5,4] float32[2,5,4] int64[3,5]", PLAIN, "is no mask"),
    (SDPA, "float32[2,3,4] float32[2,5,4] float32[2,5,4] bool[1,2,3,5]", PLAIN, "does not expand"),
    (SDPA, "float32[2,3,4] float32[2,5,4] float32[2,5,4] bool[5,3]", PLAIN, "do not broadcast"),
    (SDPA, "float32[3,4] float32[5,4] float32[5,4] bool[3,5]", attention(is_causal=True), "without is_causal"),
    ("unmask_first", "float32[2]", {}, "is not defined for float32"),
    (
        "multi_head_attention",
        f"float32[3,2,4] float32[5,2,4] float32[5,2,4] {OWNED}",
        layer(num_heads=3),
        "do not split",
    ),
    ("multi_head_attention", f"float32[3,2,4] float32[5,1,4] float32[5,1,4] {OWNED}", LAYER, "other batches"),
    ("multi_head_attention", f"float32[3,2,4] float32[5,2,4] float32[6,2,4] {OWNED}", LAYER, "do not fit"),
    ("multi_head_attention", f"float32[1,3,2,4] float32[3,2,4] float32[3,2,4] {OWNED}", LAYER, "takes rank 2 or 3"),
    (
        "multi_head_attention_mask",
        f"float32[3,2,4] float32[5,2,4] float32[5,2,4] float32[2,3,5] {OWNED}",
        LAYER,
        "should be (3, 5) or (4, 3, 5)",
    ),
]

STRICTER: Table = [
    (  # refused in other ranks, and by the documentation
        SDPA,
        "float32[1,1,3,4] float32[1,1,5,4] float32[1,1,5,4] bool[3,5]",
        attention(is_causal=True),
        "a mask goes without is_causal",
    ),
    # reads past the end
    (SDPA, "float32[1,1,3,4] float32[1,1,5,4] float32[1,1,4,4]", PLAIN, "must be of one length"),
    # nothing to attend to
    (SDPA, "float32[3,4] float32[0,4] float32[0,4]", PLAIN, "must be of one length"),
    # a scale of 1/0
    (SDPA, "float32[3,0] float32[5,0] float32[5,4]", PLAIN, "must have equal features"),
]

RESULTS: Table = [
    (SDPA, "float16[3,4] float16[5,4] float16[5,6]", attention(is_causal=True, scale=2), "float16[3,6]"),
    (SDPA, "float32[2,1,3,4] float32[1,2,5,4] float32[5,6]", PLAIN, "float32[2,2,3,6]"),
    (SDPA, "float32[4,3,4] float32[2,5,4] float32[2,5,6]", attention(enable_gqa=True), "float32[4,3,6]"),
    (SDPA, "float32[0,2,3,4] float32[0,2,5,4] float32[0,2,5,4]", PLAIN, "float32[0,2,3,4]"),
    (SDPA, "bfloat16[2,3,4] bfloat16[2,5,4] bfloat16[2,5,4] float32[2,1,5]", PLAIN, "bfloat16[2,3,4]"),
    (
        "multi_head_attention",
        f"float32[3,2,4] float32[5,2,4] float32[5,2,4] {OWNED}",
        layer(add_zero_attn=True),
        "float32[3,2,4] float32[2,3,6]",
    ),
    (
        "multi_head_attention",
        f"float32[3,4] float32[5,4] float32[5,4] {OWNED}",
        layer(average_attn_weights=False),
        "float32[3,4] float32[2,3,5]",
    ),
    (
        "multi_head_attention_mask",
        f"float32[3,2,4] float32[3,5,4] float32[3,5,4] float32[6,2,5] {OWNED}",
        layer(batch_first=True, need_weights=False),
        "float32[3,2,4]",
    ),
]
