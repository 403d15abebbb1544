"""Recurrent layers."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

ONE: Attrs = {"has_biases": True, "num_layers": 1, "bidirectional": False, "batch_first": False}
GRU = "float32[6,3] float32[6,2] float32[6] float32[6]"
"""The weights for 2 hidden units and 3 features."""

LSTM = "float32[8,3] float32[8,2] float32[8] float32[8]"


def attrs(**given: bool | int) -> Attrs:
    return {**ONE, **given}


REFUSED: Table = [
    ("gru", f"float32[5,4,3] float32[2,4,2] {GRU}", ONE, "the states are not"),
    ("gru", f"float32[5,4,3] float32[1,3,2] {GRU}", ONE, "the states are not"),
    ("gru", f"float32[0,4,3] float32[1,4,2] {GRU}", ONE, "at least one step"),
    ("gru", f"float32[5,4,2] float32[1,4,2] {GRU}", ONE, "does not fit the weights"),
    ("gru", f"float64[5,4,3] float32[1,4,2] {GRU}", ONE, "must share one dtype"),
    ("gru", f"float32[5,4,3] float32[1,4,2] {GRU}", attrs(has_biases=False), "the weights are"),
    ("gru", f"float32[5,4,3] float32[2,4,2] {GRU}", attrs(num_layers=2), "the weights are"),
    ("gru", f"float32[5,3] float32[1,2] {GRU}", ONE, "takes rank 3"),
    ("lstm", f"float32[5,4,3] float32[1,4,2] float32[1,4,3] {LSTM}", ONE, "the states are not"),
    ("gru_cell", f"float32[4,3] float32[3,2] {GRU}", {}, "differ in batch"),
    ("gru_cell", f"float32[4,3] float32[4,3] {GRU}", {}, "the weights are"),
    ("lstm_cell", f"float32[4,3] float32[4,2] float32[4,3] {LSTM}", {}, "the states differ"),
]

RESULTS: Table = [
    ("gru", f"float32[5,4,3] float32[1,4,2] {GRU}", ONE, "float32[5,4,2] float32[1,4,2]"),
    ("gru", f"float32[5,0,3] float32[1,0,2] {GRU}", ONE, "float32[5,0,2] float32[1,0,2]"),
    ("gru", f"float32[4,5,3] float32[1,4,2] {GRU}", attrs(batch_first=True), "float32[4,5,2] float32[1,4,2]"),
    (
        "rnn_relu",
        "float16[5,4,3] float16[2,4,2] float16[2,3] float16[2,2] float16[2,3] float16[2,2]",
        attrs(bidirectional=True, has_biases=False),
        "float16[5,4,4] float16[2,4,2]",
    ),
    (
        "lstm",
        f"float32[5,4,3] float32[2,4,2] float32[2,4,2] {LSTM} float32[8,2] float32[8,2] float32[8] float32[8]",
        attrs(num_layers=2),
        "float32[5,4,2] float32[2,4,2] float32[2,4,2]",
    ),
    (
        "lstm_zero_state",
        "float64[5,4,3] float64[8,3] float64[8,1] float64[8] float64[8] float64[1,2]",
        ONE,
        "float64[5,4,1] float64[1,4,1] float64[1,4,2]",
    ),
    ("lstm_cell", f"float32[4,3] float32[4,2] float32[4,2] {LSTM}", {}, "float32[4,2] float32[4,2]"),
    ("rnn_tanh_cell", "bfloat16[0,3] bfloat16[0,2] bfloat16[2,3] bfloat16[2,2]", {}, "bfloat16[0,2]"),
]
