"""Pooling: calls that PyTorch refuses, corner cases, drawn calls, and source texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from eager import in_torch, inferred, run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Case, Form, Invalid, Node
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


def pool(op: str, **given: object) -> Attrs:
    return {**TABLE[op].defaults, **given}


def places(op: str) -> int:
    return 2 if op.endswith("_with_indices") else 1


REFUSED = [
    ("max_pool1d", "float32[1,5]", {"kernel_size": (3,), "padding": 2}, "padding is at most half the kernel"),
    ("max_pool1d", "float32[1,5]", {"kernel_size": 2, "padding": 2, "dilation": 3}, "at most half the kernel"),
    ("max_pool1d", "int64[1,5]", {"kernel_size": 2}, "is not defined for int64"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": 3}, "is larger than 2"),
    ("max_pool2d", "bool[1,2,2]", {"kernel_size": 1}, "is not defined for bool"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": (1, 1, 1)}, "kernel_size takes 2 numbers, not 3"),
    ("max_pool2d", "float32[1,0,2,2]", {"kernel_size": 1}, "no empty dimension but the batch"),
    ("max_pool2d", "float32[0,2,2]", {"kernel_size": 1}, "no empty dimension but the batch"),
    ("max_pool2d", "float32[1,2,2]", {"kernel_size": 1, "stride": 0}, "must be positive"),
    ("avg_pool2d", "float32[1,5,5]", {"kernel_size": 3, "padding": 2}, "at most half the kernel"),
    ("avg_pool2d", "float32[5,5]", {"kernel_size": 3}, "takes rank 3 or 4"),
    ("avg_pool2d", "float32[1,5,5]", {"kernel_size": 3, "divisor_override": 0}, "must not be 0"),
    ("avg_pool2d", "int32[1,5,5]", {"kernel_size": 3}, "is not defined for int32"),
    ("avg_pool3d", "float32[1,3,3,3]", {"kernel_size": (4, 1, 1)}, "is larger than 3"),
    ("avg_pool3d", "float32[1,3,3,3]", {"kernel_size": (4, 1, 1), "padding": (2, 0, 0)}, "is larger than 3"),
    ("avg_pool3d", "float16[1,3,3,3]", {"kernel_size": 1}, "is not defined for float16"),
    ("lp_pool2d", "float32[1,4,4]", {"norm_type": 2, "kernel_size": (2,)}, "kernel_size takes 2 numbers, not 1"),
    ("lp_pool1d", "float32[1,4]", {"norm_type": 0, "kernel_size": 2}, "norm_type must be positive"),
    ("lp_pool1d", "int8[1,4]", {"norm_type": 2, "kernel_size": 2}, "is not defined for int8"),
    ("adaptive_avg_pool1d", "float32[1,4]", {"output_size": (None,)}, "in one dimension, output_size is a number"),
    ("adaptive_avg_pool2d", "float32[1,4,4]", {"output_size": (1,)}, "output_size takes 2 numbers, not 1"),
    ("adaptive_max_pool2d", "float32[1,0,4,4]", {"output_size": 1}, "no empty plane"),
    ("adaptive_max_pool2d", "int64[1,1,4,4]", {"output_size": 1}, "is not defined for int64"),
    ("max_unpool1d", "float32[1,3] int32[1,3]", {"kernel_size": 2}, "is not defined for int32"),
    ("max_unpool1d", "float32[1,3] int64[1,2]", {"kernel_size": 2}, "another shape"),
    ("max_unpool1d", "float32[1,3] int64[1,3]", {"kernel_size": 2, "output_size": (8,)}, "a stride or more from [6]"),
    ("max_unpool2d", "float32[1,3,3] int64[1,3,3]", {"kernel_size": (2,)}, "kernel_size takes 2 numbers, not 1"),
]


@pytest.mark.parametrize(("op", "types", "given", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError)):
        in_torch(op, types_of(types), pool(op, **given))
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), pool(op, **given))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "types", "given"),
    [
        ("max_pool2d", "int8[1,1,16,8]", {"kernel_size": 2}),  # PyTorch refuses it for channels_last
        ("max_pool1d_with_indices", "float32[1,1]", {"kernel_size": 2, "padding": 1, "dilation": 2}),
        ("lp_pool1d", "float32[1,4]", {"norm_type": -1.0, "kernel_size": 2}),
        ("adaptive_avg_pool2d", "float32[1,2,0,4]", {"output_size": 1}),  # NaN
        (
            "max_unpool1d",
            "float32[1,3] int64[1,3]",
            {"kernel_size": 2, "stride": 1},
        ),  # whether the indices fit is not known
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, object]) -> None:
    in_torch(op, types_of(types), pool(op, **given), count=places(op))
    with pytest.raises(Invalid):
        inferred(op, types_of(types), pool(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "result"),
    [
        (
            "max_pool1d",
            "float32[1,5]",
            {"kernel_size": 2, "stride": (3,), "padding": 1, "ceil_mode": True},
            "float32[1,2]",
        ),
        ("max_pool1d", "float16[2,3,1]", {"kernel_size": 4, "ceil_mode": True}, "float16[2,3,1]"),
        ("max_pool2d", "int8[0,2,5,4]", {"kernel_size": (3, 2), "dilation": (2, 1)}, "int8[0,2,1,2]"),
        ("max_pool2d", "float32[2,5,4]", {"kernel_size": (2,), "stride": (1, 2)}, "float32[2,4,2]"),
        ("max_pool3d", "uint8[1,1,2,2,2]", {"kernel_size": 3, "padding": 1}, "uint8[1,1,1,1,1]"),
        ("max_pool1d_with_indices", "int64[2,4]", {"kernel_size": 2}, "int64[2,2] int64[2,2]"),
        ("max_pool3d_with_indices", "bfloat16[1,2,2,2]", {"kernel_size": 2}, "bfloat16[1,1,1,1] int64[1,1,1,1]"),
        ("avg_pool1d", "int64[2,4]", {"kernel_size": 4}, "int64[2,1]"),
        ("avg_pool2d", "bfloat16[2,5,5]", {"kernel_size": 2, "divisor_override": -2}, "bfloat16[2,2,2]"),
        ("avg_pool2d", "float32[1,1,7,7]", {"kernel_size": 7}, "float32[1,1,1,1]"),
        ("lp_pool1d", "bool[1,4]", {"norm_type": 2, "kernel_size": 2}, "float32[1,2]"),
        ("lp_pool2d", "int8[1,4,4]", {"norm_type": 2.0, "kernel_size": (2, 1)}, "float32[1,2,4]"),
        ("lp_pool2d", "float16[1,4,4]", {"norm_type": 1.5, "kernel_size": 3, "stride": (1,)}, "float16[1,2,2]"),
        ("adaptive_avg_pool1d", "float32[2,0,4]", {"output_size": (3,)}, "float32[2,0,3]"),
        ("adaptive_avg_pool2d", "float32[2,4,5]", {"output_size": (None, 7)}, "float32[2,4,7]"),
        ("adaptive_avg_pool3d", "float16[1,2,2,2,2]", {"output_size": (None, None, 1)}, "float16[1,2,2,2,1]"),
        ("adaptive_max_pool2d", "float64[0,1,4,4]", {"output_size": 0}, "float64[0,1,0,0]"),
        ("adaptive_max_pool1d_with_indices", "float32[0,4]", {"output_size": 2}, "float32[0,2] int64[0,2]"),
        ("max_unpool2d", "float32[1,2,2] int64[1,2,2]", {"kernel_size": 2, "output_size": (4, 5)}, "float32[1,4,5]"),
        ("max_unpool1d", "float16[2,1,3] int64[2,1,3]", {"kernel_size": (4,), "stride": 2}, "float16[2,1,8]"),
    ],
)
def test_corners(op: str, types: str, given: dict[str, object], result: str) -> None:
    assert inferred(op, types_of(types), pool(op, **given)) == result
    if not op.startswith("max_unpool"):  # ones are no valid indices
        assert in_torch(op, types_of(types), pool(op, **given), count=places(op)) == result


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
