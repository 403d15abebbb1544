"""Activations."""

from __future__ import annotations

import pytest
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms
from random_calls import compare_calls, refused_by_both

from generators.graph import Attrs, Form, Invalid, Node, TensorType, Value
from generators.torch.ops import TABLE, Op, activation
from generators.torch.source import constructor, statements

EACH_ROW = pytest.mark.parametrize("op", activation.OPS, ids=lambda op: op.name)
STRICTER = {
    "softplus": "beta must not be 0",
    "hardtanh": "PyTorch truncates fractional limits for integer tensors",
    "threshold": "PyTorch truncates fractions for integer tensors",
}


@EACH_ROW
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    if op.name != "gelu":  # random calls have no text that `approximate` accepts
        assert compare_calls(op, 100).keys() <= {
            "accepted",
            "refused",
            *(["stricter"] if op.name in STRICTER else []),
        }


@EACH_ROW
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    compared, wrong = compare_forms(op, 40)
    assert not wrong
    assert compared.keys() == op.forms.keys()


@EACH_ROW
def test_every_activation_has_a_layer(op: Op) -> None:
    assert Form.MODULE in op.forms


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("relu", "bool[2]", {}, "is not defined for bool"),
        ("gelu", "int64[2]", {"approximate": "none"}, "is not defined for int64"),
        ("softsign", "bool[2]", {}, "is not defined for bool"),
        ("celu", "float32[2]", {"alpha": 0}, "alpha is not 0"),
        ("softshrink", "float32[2]", {"lambd": -0.5}, "lambd is not negative"),
        ("hardtanh", "float32[2]", {"min_val": 1, "max_val": 0}, "min_val is at most max_val"),
        ("hardtanh", "uint8[2]", {"min_val": -1, "max_val": 1}, "uint8 cannot hold -1"),
        ("hardtanh", "int8[2]", {"min_val": -1, "max_val": 300}, "int8 cannot hold 300"),
        ("rrelu", "float32[2]", {"lower": 0.5, "upper": 0.25}, "lower is at most upper"),
        ("prelu", "float32[2] float32[2]", {}, "does not fit"),
        ("prelu", "float32[2,3] float32[2]", {}, "does not fit"),
        ("prelu", "float32[2,3] float32[1,1]", {}, "rank 0 or 1"),
        ("prelu", "float32[2,3] float64[3]", {}, "must share one dtype"),
        ("prelu", "int32[2,3] int32[3]", {}, "is not defined for int32"),
        ("glu", "float32[2,3]", {"dim": 1}, "size 3 has no two halves"),
        ("glu", "float32[2,3]", {"dim": 2}, "dim 2 is out of range"),
        ("glu", "float32[]", {"dim": -1}, "a rank above 0"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    refused_by_both(op, types_of(types), attrs, message)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("sigmoid", "bool[2]", {}, "float32[2]"),
        ("relu6", "uint8[2]", {}, "uint8[2]"),
        ("tanhshrink", "int8[2]", {}, "float32[2]"),
        ("hardtanh", "uint8[2]", {"min_val": 0, "max_val": 6.0}, "uint8[2]"),
        ("threshold", "int64[]", {"threshold": 2, "value": 7}, "int64[]"),
        ("prelu", "float32[] float32[1]", {}, "float32[]"),
        ("prelu", "float16[2,0] float16[0]", {}, "float16[2,0]"),
        ("prelu", "float32[2] float32[]", {}, "float32[2]"),
        ("glu", "bfloat16[2,0]", {"dim": -1}, "bfloat16[2,0]"),
        ("glu", "float32[4,3]", {"dim": -2}, "float32[2,3]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == result == in_torch(op, types_of(types), attrs)


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
