"""Recurrent layers: drawn sequences and source texts."""

from __future__ import annotations

from collections import Counter

import pytest
from conformance.torch.recurrent import GRU, LSTM, ONE, attrs
from eager import inferred, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, Node, Value
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


def test_a_huge_number_of_layers_is_refused_at_once() -> None:
    with pytest.raises(Invalid, match="the weights are for other layers"):
        inferred("gru", types_of(f"float32[5,4,3] float32[1,4,2] {GRU}"), attrs(num_layers=2**60))


@pytest.mark.slow
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
