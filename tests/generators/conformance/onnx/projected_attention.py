"""Attention of com.microsoft."""

from __future__ import annotations

from conformance import Table

PLAIN = "float32[2,3,4] float32[4,18] float32[18]"
PAST = f"{PLAIN} float32[2,2,2,5,3]"
TWO = {"num_heads": 2}
WITH_PAST = {**TWO, "inputs": (True, True, True, False, True, False, False), "outputs": (True, True)}
WITH_SCORES = {**TWO, "inputs": (True, True, True, False, False, True, False)}


REFUSED: Table = [
    ("Attention-1", "float32[2,3,4] float32[4,18]", TWO, "ends the process without a bias"),
    ("Attention-1", PLAIN, {"num_heads": 4}, "6 and 6 are not 4 heads"),
    ("Attention-1", PLAIN, {**TWO, "qkv_hidden_sizes": (4, 6, 8)}, "sizes of float32[4,18] are wrong"),
    ("Attention-1", PLAIN, {**TWO, "qkv_hidden_sizes": (6, 6)}, "has 3 sizes"),
    (
        "Attention-1",
        PLAIN,
        {**TWO, "qkv_hidden_sizes": (4, 4, 10), "outputs": (True, True)},
        "the present needs keys and values of one size",
    ),
    ("Attention-1", PAST, {**WITH_PAST, "outputs": (True, False)}, "the present is wanted"),
    ("Attention-1", f"{PLAIN} int32[8]", TWO, "int32[8] is no mask of 3 keys"),
    ("Attention-1", f"{PLAIN} int32[2,1,3,3]", TWO, "is no mask of 3 keys"),
    ("Attention-1", f"{PLAIN} float32[2,3,3,3]", WITH_SCORES, "is no bias of scores [2, 2, 3, 3]"),
    ("Attention-1", PLAIN, {**TWO, "do_rotary": 1}, "no kernel for do_rotary"),
    ("Attention-1", PLAIN, {**TWO, "past_present_share_buffer": 1}, "no kernel for past_present_share_buffer"),
    ("Attention-1", PLAIN, {**TWO, "scale": 0.0}, "scale must be positive"),
]

RESULTS: Table = [
    ("Attention-1", PLAIN, TWO, "float32[2,3,6]"),
    ("Attention-1", PLAIN, {**TWO, "outputs": (True, True)}, "float32[2,3,6] float32[2,2,2,3,3]"),
    ("Attention-1", PLAIN, {**TWO, "qkv_hidden_sizes": (4, 4, 10)}, "float32[2,3,10]"),
    ("Attention-1", PAST, WITH_PAST, "float32[2,3,6] float32[2,2,2,8,3]"),
    ("Attention-1", f"{PLAIN} int32[2]", TWO, "float32[2,3,6]"),
    ("Attention-1", f"{PLAIN} int32[4]", TWO, "float32[2,3,6]"),
    ("Attention-1", f"{PLAIN} int32[2,3]", TWO, "float32[2,3,6]"),
    ("Attention-1", f"{PLAIN} int32[2,3,3]", TWO, "float32[2,3,6]"),
    ("Attention-1", f"{PLAIN} float32[1,2,3,3]", WITH_SCORES, "float32[2,3,6]"),
]
