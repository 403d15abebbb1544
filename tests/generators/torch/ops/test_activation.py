"""Activations."""

from __future__ import annotations

import pytest
from eager import inferred, types_of

from generators.graph import Attrs, Form, Invalid, Node, TensorType, Value
from generators.torch.ops import TABLE, activation
from generators.torch.source import constructor, statements


def test_every_activation_has_a_layer() -> None:
    assert [op.name for op in activation.OPS if Form.MODULE not in op.forms] == []


def test_limits_that_are_no_integers_are_refused_for_integers() -> None:
    with pytest.raises(Invalid, match="min_val is an integer for int32"):
        inferred("hardtanh", types_of("int32[2]"), {"min_val": -0.5, "max_val": 1})


@pytest.mark.parametrize(
    ("op", "attrs", "form", "lines"),
    [
        ("relu", {}, Form.INPLACE, ["v0 = F.relu(x0, inplace=True)"]),
        ("elu", {"alpha": 1.0}, Form.PLAIN, ["v0 = F.elu(x0)"]),
        ("elu", {"alpha": 0.5}, Form.INPLACE, ["v0 = F.elu(x0, alpha=0.5, inplace=True)"]),
        ("gelu", {"approximate": "tanh"}, Form.PLAIN, ["v0 = F.gelu(x0, approximate='tanh')"]),
        ("gelu", {"approximate": "tanh"}, Form.MODULE, ["m = torch.nn.GELU(approximate='tanh')", "v0 = m(x0)"]),
        (
            "threshold",
            {"threshold": 1, "value": 2},
            Form.MODULE,
            ["m = torch.nn.Threshold(threshold=1, value=2)", "v0 = m(x0)"],
        ),
        ("threshold", {"threshold": 1, "value": 2}, Form.PLAIN, ["v0 = F.threshold(x0, threshold=1, value=2)"]),
        ("prelu", {}, Form.MODULE, ["m = torch.nn.PReLU(3)", "m.weight = w0", "v0 = m(x0)"]),
    ],
)
def test_source_texts(op: str, attrs: Attrs, form: Form, lines: list[str]) -> None:
    names = ("x0", "w0")[: TABLE[op].arity[1]]
    types = types_of("float32[2,3] float32[3]")[: len(names)]
    node = Node(op, names, attrs, (Value("v0", TensorType.parse("float32[]")),), form)
    assert constructor(node, names, types, "m") + statements(node, names, "m") == lines


def test_the_layer_of_hardtanh_needs_limits_that_differ() -> None:
    """F.hardtanh accepts equal limits."""
    types = types_of("float32[2]")
    assert TABLE["hardtanh"].expresses(Form.MODULE, types, {"min_val": 0, "max_val": 1})
    assert not TABLE["hardtanh"].expresses(Form.MODULE, types, {"min_val": 1, "max_val": 1})
