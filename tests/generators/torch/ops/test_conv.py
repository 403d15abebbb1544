"""Convolutions: layers, source texts, and the number of terms."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from eager import inferred, run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Node
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


def conv(op: str, **given: object) -> Attrs:
    return {**TABLE[op].defaults, **given}


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


@pytest.mark.slow
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
