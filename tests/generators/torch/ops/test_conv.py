"""Convolutions: calls that PyTorch refuses, corner cases, layers, and the number of terms."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from eager import in_torch, inferred, run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, Node
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


def conv(op: str, **given: object) -> Attrs:
    return {**TABLE[op].defaults, **given}


REFUSED = [
    ("conv1d", "float32[1,4,5] float32[2,4,3]", {"groups": 2}, "does not fit the weight"),
    ("conv1d", "float32[1,4,5] float32[3,2,3]", {"groups": 2}, "3 output channels do not split into 2 groups"),
    ("conv1d", "float32[1,4,5] float32[2,4,3] float32[3]", {}, "the bias must be [2]"),
    ("conv1d", "float32[1,4,5] float16[2,4,3]", {}, "must share one dtype"),
    ("conv1d", "bool[1,4,5] bool[2,4,3]", {}, "is not defined for bool"),
    ("conv1d", "int32[1,4,5] int32[2,4,3]", {"dilation": 2}, "is not defined for int32"),
    ("conv2d", "float32[1,1,2,5] float32[1,1,3,3]", {}, "window of 3 (dilation 1) is larger than 2"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"padding": -1}, "must be positive"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"padding": "same", "stride": 2}, "takes a stride of 1"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"stride": (1, 1, 1)}, "stride takes 2 numbers, not 3"),
    ("conv2d", "float32[4,5] float32[1,4,3,3]", {}, "takes rank 3 or 4"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", {"groups": 0}, "do not split into 0 groups"),
    ("conv2d", "float32[1,1,0,5] float32[1,1,1,3]", {"padding": 1}, "no empty dimension but the batch"),
    ("conv_transpose1d", "float32[1,2,4] float32[2,1,3]", {"output_padding": 1}, "must be below stride or dilation"),
    ("conv_transpose1d", "float32[1,3,4] float32[2,1,3]", {}, "does not fit the weight"),
    ("conv_transpose1d", "float32[1,2,1] float32[2,1,1]", {"padding": 1}, "leaves nothing"),
    ("conv_transpose2d", "int32[2,4,4] int32[2,1,3,3]", {}, "is not defined for int32"),
    (
        "conv2d_padded",
        "float32[1,1,2,5] float32[1,1,3,3]",
        {"pad": (0, 0, 2, 2), "padding_mode": "reflect"},
        "more than 1",
    ),
    ("im2col", "float32[2,3]", {"kernel_size": 1}, "takes images"),
    ("im2col", "float32[1,2,3]", {"kernel_size": 3}, "is larger than 2"),
    ("im2col", "int64[1,2,3]", {"kernel_size": 1}, "is not defined for int64"),
    ("col2im", "float32[7,4]", {"kernel_size": 2, "output_size": 3}, "7 channels are no blocks of 4"),
    ("col2im", "float32[4,5]", {"kernel_size": 2, "output_size": 3}, "has not the 4 blocks"),
]


@pytest.mark.parametrize(("op", "types", "given", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises((RuntimeError, IndexError)):
        in_torch(op, types_of(types), conv(op, **given))
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), conv(op, **given))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "types", "given"),
    [
        ("conv1d", "float32[2,0,5] float32[3,0,3]", {}),  # PyTorch gives [2,0,3], without the channels of the weight
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, object]) -> None:
    in_torch(op, types_of(types), conv(op, **given))
    with pytest.raises(Invalid):
        inferred(op, types_of(types), conv(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "result"),
    [
        ("conv1d", "float16[2,5] float16[3,2,7]", {"padding": 1}, "float16[3,1]"),
        ("conv1d", "int8[1,2,5] int8[4,1,3] int8[4]", {"groups": 2, "stride": (2,)}, "int8[1,4,2]"),
        ("conv2d", "bfloat16[0,2,5,5] bfloat16[3,2,3,3]", {"padding": "valid"}, "bfloat16[0,3,3,3]"),
        (
            "conv2d",
            "float32[1,3,5,4] float32[6,1,2,4]",
            {"groups": 3, "padding": "same", "dilation": (2, 1)},
            "float32[1,6,5,4]",
        ),
        ("conv2d", "int64[1,5,5] int64[1,1,3,3]", {"dilation": 2}, "int64[1,1,1]"),
        ("conv3d", "float64[1,1,2,2,2] float64[1,1,3,1,1]", {"padding": (1, 0, 2)}, "float64[1,1,2,2,6]"),
        (
            "conv_transpose1d",
            "float32[2,3] float32[2,3,1] float32[6]",
            {"groups": 2, "stride": 3, "output_padding": 2},
            "float32[6,9]",
        ),
        (
            "conv_transpose1d",
            "int64[1,1,2] int64[1,1,3]",
            {"padding": 1, "dilation": 2, "output_padding": (1,)},
            "int64[1,1,5]",
        ),
        ("conv_transpose2d", "float16[0,1,2,2] float16[1,2,2,2]", {"stride": (1, 2)}, "float16[0,2,3,4]"),
        ("conv1d_padded", "float32[1,4] float32[1,1,4]", {"pad": (1, 2), "padding_mode": "circular"}, "float32[1,4]"),
        (
            "conv2d_padded",
            "float32[1,2,2] float32[1,1,1,1]",
            {"pad": (1, 0, -1, 0), "padding_mode": "reflect"},
            "float32[1,1,3]",
        ),
        ("im2col", "bool[0,2,3,4]", {"kernel_size": (2, 1), "stride": 2, "padding": (1, 0)}, "bool[0,4,4]"),
        ("col2im", "bool[8,4]", {"output_size": (3, 5), "kernel_size": 2, "dilation": (1, 3)}, "bool[2,3,5]"),
        ("col2im", "float16[0,2,9]", {"output_size": 1, "kernel_size": 1, "padding": 1}, "float16[0,2,1,1]"),
    ],
)
def test_corners(op: str, types: str, given: dict[str, object], result: str) -> None:
    assert inferred(op, types_of(types), conv(op, **given)) == result
    assert in_torch(op, types_of(types), conv(op, **given)) == result


@pytest.mark.parametrize(
    ("op", "types", "given", "form", "text"),
    [
        ("conv1d", "float32[1,4,5] float32[2,4,3]", {}, Form.PLAIN, "F.conv1d(a0, a1)"),
        (
            "conv1d",
            "float32[1,4,5] float32[2,4,3]",
            {"padding": "same"},
            Form.FUNCTION,
            "torch.conv1d(a0, a1, padding='same')",
        ),
        (
            "conv2d",
            "float32[4,5,5] float32[6,2,3,1]",
            {"groups": 2, "stride": 2},
            Form.MODULE,
            "torch.nn.Conv2d(4, 6, (3, 1), stride=2, groups=2, bias=False)",
        ),
        (
            "conv_transpose1d",
            "float32[1,4,5] float32[4,3,3]",
            {"groups": 2, "stride": 2, "output_padding": 1},
            Form.MODULE,
            "torch.nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2, output_padding=1, bias=False)",
        ),
        (
            "conv2d_padded",
            "float32[1,5,5] float32[1,1,3,3]",
            {"pad": (1, 1, 2, 2), "padding_mode": "reflect", "stride": 2},
            Form.PLAIN,
            "F.conv2d(F.pad(a0, (1, 1, 2, 2), mode='reflect'), a1, stride=2)",
        ),
        (
            "conv2d_padded",
            "float32[1,5,5] float32[1,1,3,3]",
            {"pad": (1, 1, 2, 2), "padding_mode": "reflect"},
            Form.MODULE,
            "torch.nn.Conv2d(1, 1, 3, padding=(2, 1), padding_mode='reflect', bias=False)",
        ),
        (
            "conv2d_padded",
            "float32[1,5,5] float32[1,1,3,2]",
            {"pad": (0, 1, 1, 1), "padding_mode": "circular"},
            Form.MODULE,
            "torch.nn.Conv2d(1, 1, (3, 2), dilation=(1, 1), padding='same', padding_mode='circular', bias=False)",
        ),
        ("im2col", "float32[1,5,5]", {"kernel_size": 2, "padding": 1}, Form.MODULE, "torch.nn.Unfold(2, padding=1)"),
        ("col2im", "float32[4,4]", {"kernel_size": 2, "output_size": 3}, Form.MODULE, "torch.nn.Fold(3, 2)"),
    ],
)
def test_source_texts(op: str, types: str, given: dict[str, object], form: Form, text: str) -> None:
    args = ("a0", "a1")[: len(types.split())]
    node = Node(op, args, conv(op, **given), (), form)
    assert TABLE[op].expresses(form, types_of(types), node.attrs)
    lines = constructor(node, args, types_of(types), "layer") or statements(node, args)
    assert lines[0].split("= ", 1)[1] == text


@pytest.mark.parametrize(
    ("op", "types", "given"),
    [
        ("conv1d", "int64[1,4,5] int64[2,4,3]", {}),  # integers cannot be parameters of a layer
        ("conv2d_padded", "float32[1,5,5] float32[1,1,3,3]", {"pad": (1, 0, 1, 1), "padding_mode": "reflect"}),
        ("conv2d_padded", "float32[1,5,5] float32[1,1,1,1]", {"pad": (-1, -1, 0, 0), "padding_mode": "circular"}),
        ("conv1d_padded", "float32[1,5] float32[1,1,2]", {"pad": (0, 1), "padding_mode": "reflect", "stride": 2}),
    ],
)
def test_calls_that_no_layer_can_express(op: str, types: str, given: dict[str, object]) -> None:
    attrs = conv(op, **given)
    inferred(op, types_of(types), attrs)
    assert not TABLE[op].expresses(Form.MODULE, types_of(types), attrs)


@pytest.mark.parametrize("op", ["conv1d_padded", "conv2d_padded", "conv3d_padded"])
def test_the_layer_pads_like_the_plain_call(op: str) -> None:
    paddings = set()
    for index in range(150):
        builder = Builder(NumpySource(2, index), Limits(max_numel=256))
        if not builder.grow(TABLE[op]):
            continue
        case = with_values(builder)
        (node,) = case.graph.nodes
        if not TABLE[op].expresses(Form.MODULE, case.graph.arg_types(node), node.attrs) or node.args[1][0] != "w":
            continue
        layer, plain = (
            run_case(replace(case, graph=replace(case.graph, nodes=(replace(node, form=form),))))
            for form in (Form.MODULE, Form.PLAIN)
        )
        assert all(torch.equal(a, b) for a, b in zip(layer, plain, strict=True))
        paddings.add("'same'" if "'same'" in "".join(_constructor(node, case.graph.arg_types(node))) else "number")
    assert paddings == {"'same'", "number"}


def _constructor(node: Node, types: tuple) -> list[str]:
    return constructor(replace(node, form=Form.MODULE), node.args, types, "layer")


@pytest.mark.parametrize(
    ("op", "types", "given", "count"),
    [
        ("conv2d", "float32[1,4,5,5] float32[6,2,3,2]", {"groups": 2}, 12),
        ("conv_transpose2d", "float32[1,4,5,5] float32[4,3,3,2]", {"groups": 2}, 12),
        ("col2im", "float32[8,4]", {"output_size": 3, "kernel_size": 2}, 4),
    ],
)
def test_terms_are_the_number_of_products_in_a_result(
    op: str, types: str, given: dict[str, object], count: int
) -> None:
    terms = TABLE[op].terms
    assert terms is not None
    assert terms(types_of(types), conv(op, **given)) == count
