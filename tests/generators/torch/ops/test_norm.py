"""Rows of `norm` and `softmax`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms
from random_calls import compare_calls, refused_by_both

from generators.graph import Attr, Attrs, Form, Invalid, Node, TensorType
from generators.torch.ops import TABLE, Op, norm
from generators.torch.source import constructor, statements

STRICTER = {"accepted", "refused", "stricter"}
EXPRESSIONS = [op for op in norm.OPS if op.name != "batch_norm_training"]  # its source is statements
EACH_ROW = pytest.mark.parametrize("op", EXPRESSIONS, ids=lambda op: op.name)


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.filterwarnings("ignore::UserWarning")
@EACH_ROW
@pytest.mark.exhaustive
def test_pytorch_accepts_every_random_call_that_the_row_accepts(op: Op) -> None:
    assert compare_calls(op, 150).keys() <= STRICTER


@pytest.mark.filterwarnings("ignore::UserWarning")
@EACH_ROW
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    compared, wrong = compare_forms(op, 60)
    assert not wrong
    assert all(compared[form] for form in op.forms)


REFUSED: list[tuple[str, str, dict[str, Attr], str]] = [
    ("batch_norm", "float32[2,3] float32[2] float32[2]", {}, "takes parameters of [3]"),
    ("batch_norm", "float32[3] float32[3] float32[3]", {}, "takes rank 2 or more"),
    ("batch_norm", "float32[2,3] float16[3] float16[3]", {}, "dtypes do not go with float32[2,3]"),
    ("batch_norm", "float16[2,3] float32[3] float32[3] float16[3]", {}, "dtypes do not go with"),
    ("batch_norm", "float32[2,0] float32[0] float32[0] float32[0]", {}, "no weight fits float32[2,0]"),
    ("batch_norm_batch_stats", "float32[1,3,1]", {}, "more than 1 value per channel"),
    ("batch_norm_batch_stats", "float32[2,3]", {"eps": 0}, "eps must be positive"),
    ("instance_norm", "float32[2,3]", {}, "more than 1 value per channel"),
    ("instance_norm", "float32[2,3,1]", {}, "more than 1 value per channel"),
    ("instance_norm", "float32[0,3,4] float32[3]", {}, "no weight fits"),
    ("layer_norm", "float32[2,3]", {"normalized_shape": (2,)}, "does not fit"),
    ("layer_norm", "float32[2,3]", {"normalized_shape": ()}, "does not fit"),
    ("layer_norm", "float32[2,3] float32[2] float32[2]", {"normalized_shape": (3,)}, "takes parameters of [3]"),
    ("group_norm", "float32[2,3,4]", {"num_groups": 2}, "3 channels do not split into 2 groups"),
    ("group_norm", "float32[1,2]", {"num_groups": 2}, "more than 1 value"),
    ("group_norm", "float32[2,0]", {"num_groups": 0}, "do not split into 0 groups"),
    ("rms_norm", "int64[2]", {"normalized_shape": (2,), "eps": 0.1}, "is not defined for int64"),
    ("local_response_norm", "float32[2,3]", {"size": 1}, "takes rank 3 or 4"),
    ("local_response_norm", "float32[2,3,4]", {"size": 0}, "a size above 0"),
    ("local_response_norm", "float16[2,3,4,5]", {"size": 2}, "is not defined for float16"),
    ("normalize", "float32[2,0]", {"p": "inf"}, "no largest element"),
    ("normalize", "float32[2,3]", {"dim": (0, -2)}, "repeat an axis"),
    ("normalize", "float16[2,3]", {"eps": 1e6}, "1000000.0 is too large for float16"),
    ("softmax", "float32[2,3]", {"dim": 2}, "dim 2 is out of range for rank 2"),
    ("softmax", "int64[2,3]", {"dim": 0}, "is not defined for int64"),
    ("softmax", "float32[]", {"dim": 1}, "dim 1 is out of range for rank 0"),
    ("softmin", "bool[2]", {"dim": 0, "dtype": "float32"}, "is not defined for bool"),
]


@pytest.mark.parametrize(("op", "types", "given", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    refused_by_both(op, types_of(types), attrs_of(op, **given), message)


@pytest.mark.parametrize(
    ("op", "types", "given", "message"),
    [
        ("layer_norm", "float32[2,3]", {"normalized_shape": (3,), "eps": -1.0}, "eps must not be negative"),
        ("rms_norm", "float32[2,3]", {"normalized_shape": (3,)}, "takes an eps, for all but float64"),
        ("rms_norm", "float32[3] int64[3]", {"normalized_shape": (3,), "eps": 0.1}, "is not defined for int64"),
        ("normalize", "float16[2,3]", {}, "eps must not be below"),  # 1e-12 is 0 in float16
        ("normalize", "float32[2,3]", {"p": -1.0}, "p must not be negative"),
        (
            "local_response_norm",
            "float32[1,1,1,2,2]",
            {"size": 1},
            "takes rank 3 or 4",
        ),  # PyTorch accepts contiguous inputs only
        ("instance_norm_running_stats", "float32[2,3,4] float64[3] float64[3]", {}, "dtypes do not go with"),
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    in_torch(op, types_of(types), attrs_of(op, **given))
    with pytest.raises(Invalid, match=message):
        inferred(op, types_of(types), attrs_of(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "result"),
    [
        ("batch_norm", "bfloat16[2,3] float32[3] float32[3]", {}, "bfloat16[2,3]"),
        ("batch_norm", "float32[1,2,1,2,1,2] float32[2] float32[2]", {"momentum": 1}, "float32[1,2,1,2,1,2]"),
        ("batch_norm_batch_stats", "float32[0,3] float32[3]", {}, "float32[0,3]"),
        ("instance_norm_running_stats", "float32[2,3] float32[3] float32[3]", {}, "float32[2,3]"),
        ("layer_norm", "float16[2,3] float32[3] float32[3]", {"normalized_shape": (3,)}, "float16[2,3]"),
        ("layer_norm", "float32[2,0]", {"normalized_shape": (2, 0)}, "float32[2,0]"),
        ("group_norm", "float32[2,2]", {"num_groups": 2}, "float32[2,2]"),
        ("group_norm", "float32[2,0]", {"num_groups": 5}, "float32[2,0]"),
        ("rms_norm", "float64[2,3]", {"normalized_shape": (3,)}, "float64[2,3]"),
        ("rms_norm", "float32[2] bfloat16[2]", {"normalized_shape": (2,), "eps": 0}, "float32[2]"),
        ("local_response_norm", "int64[2,3,4]", {"size": 5}, "float32[2,3,4]"),
        ("local_response_norm", "int64[2,3,0]", {"size": 5}, "int64[2,3,0]"),
        ("normalize", "float32[]", {"dim": -1}, "float32[]"),
        ("normalize", "float32[2,3]", {"dim": (), "p": 0}, "float32[2,3]"),
        ("softmax", "float32[]", {"dim": -1}, "float32[]"),
        ("softmax", "bool[2,3]", {"dim": -2, "dtype": "float16"}, "float16[2,3]"),
        ("log_softmax", "float64[0,3]", {"dim": 0, "dtype": "bfloat16"}, "bfloat16[0,3]"),
    ],
)
def test_corners_that_both_accept(op: str, types: str, given: dict[str, Attr], result: str) -> None:
    assert inferred(op, types_of(types), attrs_of(op, **given)) == result
    assert in_torch(op, types_of(types), attrs_of(op, **given)) == result


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
