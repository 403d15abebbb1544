"""Recurrent layers: refused calls, corner cases, source texts, and equal results of layers and functions."""

from __future__ import annotations

from collections import Counter

import pytest
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, Node, Value
from generators.torch.ops import TABLE, recurrent
from generators.torch.source import constructor, statements

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)
ONE: Attrs = {"has_biases": True, "num_layers": 1, "bidirectional": False, "batch_first": False}
GRU = "float32[6,3] float32[6,2] float32[6] float32[6]"
"""The weights for 2 hidden units and 3 features."""
LSTM = "float32[8,3] float32[8,2] float32[8] float32[8]"


def attrs(**given: bool | int) -> Attrs:
    return {**ONE, **given}


BOTH_REFUSE = [
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


@pytest.mark.parametrize(("op", "types", "given", "message"), BOTH_REFUSE)
def test_pytorch_and_inference_refuse(op: str, types: str, given: Attrs, message: str) -> None:
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), given, count=3 if op.startswith("lstm") else 2)
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), given)
    assert message in str(error.value)


def test_a_huge_number_of_layers_is_refused_at_once() -> None:
    with pytest.raises(Invalid, match="the weights are for other layers"):
        inferred("gru", types_of(f"float32[5,4,3] float32[1,4,2] {GRU}"), attrs(num_layers=2**60))


@pytest.mark.parametrize(
    ("op", "types", "given", "results"),
    [
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
    ],
)
def test_corners(op: str, types: str, given: Attrs, results: str) -> None:
    assert inferred(op, types_of(types), given) == results
    assert in_torch(op, types_of(types), given, count=len(results.split())) == results


@pytest.mark.parametrize("op", [op.name for op in recurrent.OPS])
def test_the_layer_gives_the_results_of_the_function(op: str) -> None:
    """Bit for bit, because the layer calls the function."""
    compared, wrong = compare_forms(TABLE[op], 30)
    assert wrong == []
    assert compared[Form.MODULE] > 5


def test_sequences_of_all_kinds_are_drawn() -> None:
    counts = Counter[tuple[str, object]]()
    for index in range(300):
        builder = Builder(NumpySource(8, index), Limits(max_numel=512))
        if builder.grow(TABLE["lstm"]):
            node = builder.nodes[-1]
            first, second = (result.type.sizes[-1] for result in node.results[1:])
            counts.update([*node.attrs.items(), ("projected", first < second)])
    assert len(counts) == 10
    assert all(count > 20 for count in counts.values()), counts


def written(op: str, names: str, types: str, given: Attrs, results: int, form: Form) -> list[str]:
    values = tuple(Value(f"v{i}", types_of("float32[1]")[0]) for i in range(results))
    node = Node(op, tuple(names), given, values, form)
    return constructor(node, node.args, types_of(types), "m") + statements(node, node.args, "m")


def test_source_texts() -> None:
    two = attrs(bidirectional=True)
    of_lstm = f"float32[5,4,3] float32[2,4,2] float32[2,4,2] {LSTM} {LSTM}"
    assert written("lstm", "xhcabdefgij", of_lstm, two, 3, Form.PLAIN) == [
        "v0, v1, v2 = torch.lstm(x, (h, c), [a, b, d, e, f, g, i, j], True, 1, 0.0, False, True, False)"
    ]
    assert written("lstm", "xhcabdefgij", of_lstm, two, 3, Form.MODULE) == [
        "m = torch.nn.LSTM(3, 2, bidirectional=True)",
        "m.weight_ih_l0 = a",
        "m.weight_hh_l0 = b",
        "m.bias_ih_l0 = d",
        "m.bias_hh_l0 = e",
        "m.weight_ih_l0_reverse = f",
        "m.weight_hh_l0_reverse = g",
        "m.bias_ih_l0_reverse = i",
        "m.bias_hh_l0_reverse = j",
        "v0, (v1, v2) = m(x, (h, c))",
    ]
    assert written("gru_zero_state", "xabde", f"float32[5,4,3] {GRU}", ONE, 2, Form.PLAIN) == [
        "v0, v1 = torch.gru(x, x.new_zeros(1, x.shape[1], b.shape[1]), [a, b, d, e], True, 1, 0.0, False, False, False)"
    ]
    unbatched = {key: value for key, value in ONE.items() if key != "batch_first"}
    of_rnn = "float32[5,3] float32[2,3] float32[2,2] float32[2] float32[2]"
    assert written("rnn_relu_unbatched", "xabde", of_rnn, unbatched, 2, Form.PLAIN) == [
        "v0, v1 = torch.rnn_relu(x.unsqueeze(1), x.new_zeros(1, 1, b.shape[1]), [a, b, d, e], "
        "True, 1, 0.0, False, False, False)",
        "v0, v1 = v0.squeeze(1), v1.squeeze(1)",
    ]
    assert written("rnn_relu_unbatched", "xabde", of_rnn, unbatched, 2, Form.MODULE)[0::5] == [
        'm = torch.nn.RNN(3, 2, nonlinearity="relu")',
        "v0, v1 = m(x)",
    ]
    of_cell = f"float32[4,3] float32[4,2] float32[4,2] {LSTM}"
    assert written("lstm_cell", "xhcabde", of_cell, {}, 2, Form.MODULE)[0::5] == [
        "m = torch.nn.LSTMCell(3, 2)",
        "v0, v1 = m(x, (h, c))",
    ]
