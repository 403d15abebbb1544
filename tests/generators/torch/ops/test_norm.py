"""Rows of `norm` and `softmax`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from eager import inferred, types_of

from generators.graph import Attr, Attrs, Form, Invalid, Node, TensorType
from generators.torch.ops import TABLE, Op, norm
from generators.torch.source import constructor, statements

EXPRESSIONS = [op for op in norm.OPS if op.name != "batch_norm_training"]  # its source is statements
EACH_ROW = pytest.mark.parametrize("op", EXPRESSIONS, ids=lambda op: op.name)


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


def lines(op: str, types: str, given: dict[str, Attr], form: Form) -> list[str]:
    operands: tuple[TensorType, ...] = types_of(types)
    names = tuple(f"a{i}" for i in range(len(operands)))
    node = Node(op, names, attrs_of(op, **given), (), form)
    return [*constructor(node, names, operands, "m"), *statements(node, names, "m")]


@pytest.mark.parametrize(
    ("op", "types", "given", "text"),
    [
        ("batch_norm", "float32[2,3] float32[3] float32[3] float32[3]", {}, "F.batch_norm(a0, a1, a2, a3)"),
        ("batch_norm_bias", "float32[2,3]" + " float32[3]" * 3, {}, "F.batch_norm(a0, a1, a2, None, a3)"),
        (
            "batch_norm_batch_stats",
            "float32[2,3] float32[3]",
            {"eps": 0.1},
            "F.batch_norm(a0, None, None, a1, training=True, eps=0.1)",
        ),
        ("instance_norm", "float32[2,3,4]", {}, "F.instance_norm(a0, None, None)"),
        ("layer_norm", "float32[2,3]", {"normalized_shape": (3,), "eps": 0}, "F.layer_norm(a0, (3,), eps=0)"),
        ("layer_norm_bias", "float32[3] float32[3]", {"normalized_shape": (3,)}, "F.layer_norm(a0, (3,), None, a1)"),
        ("rms_norm", "float64[3]", {"normalized_shape": (3,), "eps": 1e-5}, "F.rms_norm(a0, (3,), eps=1e-05)"),
        ("normalize", "float32[2,3]", {"p": "inf", "dim": (0,)}, 'F.normalize(a0, p=float("inf"), dim=(0,))'),
        ("softmax", "float32[2]", {"dim": 0, "dtype": "float64"}, "torch.softmax(a0, dim=0, dtype=torch.float64)"),
    ],
)
def test_source_texts(op: str, types: str, given: dict[str, Attr], text: str) -> None:
    assert [line.split(" = ")[1] for line in lines(op, types, given, Form.PLAIN)] == [text]


@pytest.mark.parametrize(
    ("op", "types", "given", "text"),
    [
        (
            "batch_norm",
            "float32[2,3]" + " float32[3]" * 2,
            {"momentum": 0.5},
            "torch.nn.BatchNorm1d(3, affine=False, track_running_stats=True, momentum=0.5)",
        ),
        (
            "instance_norm",
            "float32[2,3,4,5] float32[3] float32[3]",
            {},
            "torch.nn.InstanceNorm2d(3, affine=True, track_running_stats=False)",
        ),
        ("layer_norm", "float32[2] float32[2]", {"normalized_shape": (2,)}, "torch.nn.LayerNorm((2,), bias=False)"),
        ("group_norm", "float32[2,4]", {"num_groups": 2}, "torch.nn.GroupNorm(2, 4, affine=False)"),
        ("softmax", "float32[2,3,4]", {"dim": -3}, "torch.nn.Softmax2d()"),
        ("softmax", "float32[2,3,4]", {"dim": 0}, "torch.nn.Softmax(dim=0)"),
    ],
)
def test_layers(op: str, types: str, given: dict[str, Attr], text: str) -> None:
    assert lines(op, types, given, Form.MODULE)[0] == f"m = {text}"


@pytest.mark.parametrize(
    ("op", "types", "given"),
    [
        ("batch_norm", "float32[2,3]" + " float32[3]" * 3, {}),  # a weight without a bias: only new versions accept it
        (
            "instance_norm_running_stats",
            "float32[2,3]" + " float32[3]" * 2,
            {},
        ),  # the layer would treat it as unbatched
        ("softmax", "float32[2]", {"dim": 0, "dtype": "float64"}),
    ],
)
def test_calls_that_no_layer_can_express(op: str, types: str, given: dict[str, Attr]) -> None:
    assert not TABLE[op].expresses(Form.MODULE, types_of(types), attrs_of(op, **given))


@EACH_ROW
def test_results_stay_finite_where_all_numbers_are_equal(op: Op) -> None:
    """The variance is 0, so only eps prevents a division by 0."""
    x = torch.full((4, 6, 5), 3.0)
    given: dict[str, Attr] = {"normalized_shape": (5,), "num_groups": 2, "size": 2, "dim": 1, "eps": 1e-12}
    attrs = {key: given.get(key, op.defaults.get(key)) for key in op.schema}
    rest = [torch.ones(5 if "layer" in op.name else 6) for _ in range(op.arity[0] - 1)]
    names = tuple(f"a{i}" for i in range(1 + len(rest)))
    scope = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, [x, *rest], strict=True))}
    assert torch.isfinite(eval(op.render(names, attrs), scope)).all()


@pytest.mark.parametrize("momentum", [0.1, 0.0, 1.0])
def test_training_updates_copies_of_the_statistics_as_the_layer_does(momentum: float) -> None:
    layer = torch.nn.BatchNorm1d(3, momentum=momentum, affine=False)
    x, mean, var = torch.randn(4, 3, 5), torch.zeros(3), torch.ones(3)
    text = TABLE["batch_norm_training"].render(("x", "mean", "var"), attrs_of("batch_norm_training", momentum=momentum))
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "x": x, "mean": mean, "var": var}
    exec(text.format(out0="out", out1="new_mean", out2="new_var"), scope)
    assert torch.equal(scope["out"], layer(x))
    assert layer.running_mean is not None
    assert layer.running_var is not None
    assert torch.equal(scope["new_mean"], layer.running_mean)
    assert torch.equal(scope["new_var"], layer.running_var)
    assert torch.equal(mean, torch.zeros(3))
    assert torch.equal(var, torch.ones(3))


def test_training_needs_more_than_one_value_per_channel() -> None:
    with pytest.raises(Invalid, match="takes more than 1 value per channel"):
        inferred("batch_norm_training", types_of("float32[1,3] float32[3] float32[3]"), attrs_of("batch_norm_training"))
