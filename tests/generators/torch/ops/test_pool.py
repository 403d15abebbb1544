"""Pooling: drawn calls and source texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from eager import run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Case, Form, Node
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


def pool(op: str, **given: object) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.parametrize(
    ("op", "given", "form", "text"),
    [
        ("max_pool2d", {"kernel_size": 2}, Form.PLAIN, "F.max_pool2d(a0, 2)"),
        ("max_pool2d", {"kernel_size": 2, "stride": (1, 2)}, Form.MODULE, "torch.nn.MaxPool2d(2, stride=(1, 2))"),
        ("max_pool1d", {"kernel_size": 2, "dilation": 2}, Form.FUNCTION, "torch.max_pool1d(a0, 2, dilation=2)"),
        ("max_pool3d_with_indices", {"kernel_size": 2}, Form.PLAIN, "F.max_pool3d(a0, 2, return_indices=True)"),
        ("max_pool3d_with_indices", {"kernel_size": 2}, Form.FUNCTION, "F.max_pool3d_with_indices(a0, 2)"),
        ("max_pool1d_with_indices", {"kernel_size": 2}, Form.MODULE, "torch.nn.MaxPool1d(2, return_indices=True)"),
        (
            "avg_pool3d",
            {"kernel_size": 2, "divisor_override": -2},
            Form.MODULE,
            "torch.nn.AvgPool3d(2, divisor_override=-2)",
        ),
        ("lp_pool1d", {"norm_type": 1.5, "kernel_size": 2}, Form.MODULE, "torch.nn.LPPool1d(1.5, 2)"),
        ("adaptive_avg_pool1d", {"output_size": 1}, Form.FUNCTION, "torch.adaptive_avg_pool1d(a0, 1)"),
        ("adaptive_max_pool2d", {"output_size": (None, 1)}, Form.MODULE, "torch.nn.AdaptiveMaxPool2d((None, 1))"),
        ("max_unpool1d", {"kernel_size": 2, "output_size": (5,)}, Form.MODULE, "torch.nn.MaxUnpool1d(2, None, 0)"),
    ],
)
def test_source_texts(op: str, given: dict[str, object], form: Form, text: str) -> None:
    node = Node(op, ("a0", "a1"), pool(op, **given), (), form)
    types = types_of("float32[1,1,4,4,4] int64[1,1,4,4,4]")
    lines = constructor(node, ("a0", "a1"), types, "layer") or statements(node, ("a0", "a1"))
    assert [line.split("= ", 1)[1] for line in lines] == [text]


def test_unpool_layers_are_called_with_the_output_size() -> None:
    node = Node("max_unpool1d", ("a0", "a1"), pool("max_unpool1d", kernel_size=2, output_size=(5,)), (), Form.MODULE)
    assert statements(node, ("a0", "a1"), "layer")[0].endswith("layer(a0, a1, output_size=(5,))")


def test_the_layer_of_lp_pool_cannot_express_an_integer_power_of_integers() -> None:
    """The layer converts the power to a float, and then the average is not truncated."""
    op, types = TABLE["lp_pool1d"], types_of("int64[1,4]")
    powers = [pool("lp_pool1d", norm_type=power, kernel_size=2) for power in (2, 2.0)]
    assert [op.expresses(Form.MODULE, types, attrs) for attrs in powers] == [False, True]


def drawn(op: str, count: int) -> Iterator[Case]:
    for index in range(count):
        builder = Builder(NumpySource(1, index), Limits(max_numel=512))
        if builder.grow(TABLE[op]):
            yield with_values(builder)


INDICES = [name for name in TABLE if name.endswith("pool2d_with_indices") or name == "max_pool1d_with_indices"]


@pytest.mark.parametrize("op", INDICES)
def test_poolings_with_indices_read_different_numbers(op: str) -> None:
    for case in drawn(op, 30):
        (array,) = case.tensors.values()
        assert np.all(np.diff(np.sort(array.astype(np.float64), -1), axis=-1) > 0)


@pytest.mark.parametrize("op", ["max_unpool1d", "max_unpool2d", "max_unpool3d"])
def test_unpooling_keeps_every_element(op: str) -> None:
    for case in drawn(op, 30):
        (node,) = [node for node in case.graph.nodes if node.op == op]
        graph = case.graph.__class__(case.graph.inputs, case.graph.nodes, (node.args[0], node.results[0].name))
        before, after = run_case(Case(graph, case.tensors))
        assert torch.allclose(after.double().sum(), before.double().sum(), rtol=1e-2, atol=1e-2)
        assert after.count_nonzero() == before.count_nonzero()


def test_kernels_reach_the_whole_tensor_and_beyond() -> None:
    wholes = beyond = 0
    for case in drawn("max_pool1d", 150):
        (node,) = case.graph.nodes
        kernel, size = node.attrs["kernel_size"], case.graph.arg_types(node)[0].sizes[-1]
        kernel = kernel[0] if isinstance(kernel, tuple) else kernel
        assert isinstance(kernel, int)
        wholes += kernel == size > 1
        beyond += kernel > size
    assert wholes > 5
    assert beyond > 5
