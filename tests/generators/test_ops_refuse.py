"""What PyTorch refuses, `Op.results` refuses. Where it is stricter, that is on purpose and stands in `STRICTER`."""

from __future__ import annotations

import pytest
import torch
from eager import ones, type_text

from generators.graph import Attrs, Invalid, TensorType
from generators.ops import OPS, TABLE, Op
from generators.ops.base import Types

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)


def types_of(text: str) -> Types:
    return tuple(map(TensorType.parse, text.split()))


def in_torch(op: str, types: Types, attrs: Attrs) -> str:
    """The type that eager PyTorch's result has on ones."""
    names = tuple(f"a{i}" for i in range(len(types)))
    operands = dict(zip(names, map(ones, types), strict=True))
    scope = {"torch": torch, "F": torch.nn.functional, **operands}
    out = eval(TABLE[op].render(names, attrs), scope)
    return ", ".join(map(type_text, out)) if isinstance(out, tuple | list) else type_text(out)


def inferred(op: str, types: Types, attrs: Attrs) -> str:
    return ", ".join(map(str, TABLE[op].results(types, attrs)))


def window(kernel: tuple[int, ...], padding: tuple[int, ...], **more: object) -> dict[str, object]:
    ones = (1,) * len(kernel)
    return {"kernel_size": kernel, "stride": ones, "padding": padding, "ceil_mode": False, **more}


def conv(nd: int, groups: int, padding: int = 0, **more: object) -> dict[str, object]:
    ones = (1,) * nd
    return {"stride": ones, "padding": (padding,) * nd, "dilation": ones, "groups": groups, **more}


DIM0 = {"dim": 0}

BOTH_REFUSE = [
    # elementwise
    ("add", "float32[2,3] float32[2]", {}, "do not broadcast"),
    ("mul", "float32[2,1,3] float32[4,2]", {}, "do not broadcast"),
    ("where", "int64[2] float32[2] float32[2]", {}, "the condition must be bool, not int64"),
    ("where", "bool[2] float32[3] float32[3]", {}, "do not broadcast"),
    ("neg", "bool[2]", {}, "is not defined for bool"),
    ("sub", "bool[2] bool[2]", {}, "is not defined for bool"),
    ("rsub_scalar", "bool[2]", {"other": 1}, "is not defined for bool"),
    # shape
    ("squeeze", "float32[1,2]", {"dim": 2}, "dim 2 is out of range for rank 2"),
    ("squeeze", "float32[1,2]", {"dim": (0, -2)}, "repeat an axis"),
    ("unsqueeze", "float32[2]", {"dim": -3}, "dim -3 is out of range for rank 2"),
    ("flatten", "float32[2,3,4]", {"start_dim": 2, "end_dim": 1}, "start_dim must not come after end_dim"),
    ("reshape", "float32[2,3]", {"shape": (4,)}, "cannot be reshaped to (4,)"),
    ("reshape", "float32[2,3]", {"shape": (-1, 4)}, "cannot be reshaped to (-1, 4)"),
    ("reshape", "float32[2,3]", {"shape": (-1, -1)}, "only one dimension can be inferred"),
    ("expand", "float32[2,3]", {"shape": (2, 4)}, "cannot be expanded to (2, 4)"),
    ("expand", "float32[2,3]", {"shape": (3,)}, "cannot be expanded to rank 1"),
    ("expand", "float32[2]", {"shape": (-1, 2)}, "-1 in expand needs an existing dimension"),
    ("permute", "float32[2,3]", {"dims": (0,)}, "takes 2 dims, not 1"),
    ("permute", "float32[2,3]", {"dims": (0, 0)}, "repeat an axis"),
    ("transpose", "float32[2,3]", {"dim0": 0, "dim1": 2}, "dim 2 is out of range for rank 2"),
    ("cat", "float32[2,3] float32[3,3]", {"dim": 1}, "along 1"),
    ("cat", "float32[2,3] float32[2]", DIM0, "of one rank above 0"),
    ("cat", "float32[] float32[]", DIM0, "of one rank above 0"),
    ("stack", "float32[2] float32[3]", DIM0, "one type"),
    ("slice", "float32[]", {"dim": 0, "start": None, "end": None, "step": 1}, "a rank above 0"),
    ("slice", "float32[4]", {"dim": 0, "start": None, "end": None, "step": 0}, "a positive step"),
    ("slice", "float32[4]", {"dim": 0, "start": None, "end": None, "step": -1}, "a positive step"),
    ("select", "float32[2,3]", {"dim": 1, "index": 3}, "index 3 is out of range for size 3"),
    ("select", "float32[2,3]", {"dim": -1, "index": -4}, "index -4 is out of range for size 3"),
    ("split", "float32[5]", {"sizes": (2, 2), "dim": 0}, "do not add up to 5"),
    ("flip", "float32[2,3]", {"dims": (0, -2)}, "repeat an axis"),
    ("repeat", "float32[2,3]", {"repeats": (2,)}, "takes 2 or more counts"),
    # pad
    ("pad_reflect", "float32[1,1,3]", {"pad": (3, 0)}, "pad (3, 0) is more than 2, the most for size 3"),
    ("pad_reflect", "float32[4]", {"pad": (1, 1)}, "takes rank + 1 or + 2"),
    ("pad_replicate", "float32[1,1,3]", {"pad": (-2, -1)}, "leaves nothing of size 3"),
    ("pad_constant", "float32[2,3]", {"pad": (-4, 0), "value": 0}, "leaves nothing of size 3"),
    ("pad_constant", "float32[3]", {"pad": (1, 1, 1, 1), "value": 0}, "of 2 dimensions does not fit"),
    ("pad_constant", "float32[3]", {"pad": (1,), "value": 0}, "pad takes pairs, not 1 amounts"),
    ("pad_circular", "float32[1,1,3]", {"pad": (4, 0)}, "pad (4, 0) is more than 3, the most for size 3"),
    ("pad_circular", "float32[1,1,3]", {"pad": (3, -1)}, "pad (3, -1) is more than 2, the most for size 3"),
    # linalg
    ("linear", "float32[2,3] float32[4,2]", {}, "does not fit the weight"),
    ("linear", "float32[2,3] float64[4,3]", {}, "must share one dtype"),
    ("linear", "float32[2,3] float32[4,3] float32[3]", {}, "the bias must be [4]"),
    ("matmul", "float32[2,3] float32[2,3]", {}, "does not fit"),
    ("matmul", "float32[] float32[2]", {}, "ranks above 0"),
    ("matmul", "float32[2] int64[2]", {}, "must share one dtype"),
    ("matmul", "float32[2,1,3] float32[3,3,1]", {}, "do not broadcast"),
    ("bmm", "float32[2,3,4] float32[3,4,5]", {}, "does not fit"),
    ("bmm", "float32[2,3] float32[3,2]", {}, "rank 3"),
    # convolution
    ("conv1d", "float32[1,4,5] float32[2,4,3]", conv(1, 2), "does not fit the weight"),
    ("conv1d", "float32[1,4,5] float32[3,2,3]", conv(1, 2), "3 output channels do not split into 2 groups"),
    ("conv1d", "float32[1,4,5] float32[2,4,3] float32[3]", conv(1, 1), "the bias must be [2]"),
    ("conv2d", "float32[1,1,2,5] float32[1,1,3,3]", conv(2, 1), "window of 3 (dilation 1) is larger than 2"),
    ("conv2d", "float32[4,5] float32[1,4,3,3]", conv(2, 1), "takes rank 3 or 4"),
    ("conv2d", "float32[1,1,5,5] float32[1,1,3,3]", conv(2, 0), "do not split into 0 groups"),
    (
        "conv_transpose1d",
        "float32[1,2,4] float32[2,1,3]",
        conv(1, 1, output_padding=(1,)),
        "output_padding must be below stride or dilation",
    ),
    ("conv_transpose1d", "float32[1,3,4] float32[2,1,3]", conv(1, 1, output_padding=(0,)), "does not fit the weight"),
    ("conv_transpose1d", "float32[1,2,1] float32[2,1,2]", conv(1, 1, 1, output_padding=(0,)), "leaves nothing"),
    # pool
    ("max_pool1d", "float32[1,5]", window((3,), (2,), dilation=(1,)), "padding is at most half the kernel"),
    ("max_pool2d", "float32[1,2,2]", window((3, 3), (0, 0), dilation=(1, 1)), "is larger than 2"),
    ("avg_pool2d", "float32[1,5,5]", window((3, 3), (2, 2), count_include_pad=True), "at most half the kernel"),
    ("avg_pool2d", "float32[5,5]", window((3, 3), (0, 0), count_include_pad=True), "takes rank 3 or 4"),
    ("avg_pool3d", "float32[1,3,3,3]", window((4, 1, 1), (0, 0, 0), count_include_pad=True), "is larger than 3"),
    # norm
    ("batch_norm", "float32[2,3] float32[2] float32[2]", {}, "takes statistics of [3]"),
    ("batch_norm", "float32[3] float32[3] float32[3]", {}, "takes rank 2 or more"),
    ("layer_norm", "float32[2,3]", {"normalized_shape": (2,)}, "does not fit"),
    ("layer_norm", "float32[2,3] float32[2] float32[2]", {"normalized_shape": (3,)}, "takes weight and bias of (3,)"),
    ("group_norm", "float32[2,3,4]", {"num_groups": 2}, "3 channels do not split into 2 groups"),
    ("group_norm", "float32[1,2]", {"num_groups": 2}, "more than 1 value per group"),
    ("softmax", "float32[2,3]", {"dim": 2}, "dim 2 is out of range for rank 2"),
    ("softmax", "int64[2,3]", DIM0, "is not defined for int64"),
    # reduction
    ("sum", "float32[2,3]", {"dim": (2,), "keepdim": False}, "dim 2 is out of range for rank 2"),
    ("sum", "float32[2,3]", {"dim": (0, -2), "keepdim": False}, "repeat an axis"),
    ("mean", "int64[2]", {"dim": (0,), "keepdim": False}, "is not defined for int64"),
    ("argmax", "bool[2]", {"dim": 0, "keepdim": False}, "is not defined for bool"),
    ("cumsum", "float32[2]", {"dim": -2}, "dim -2 is out of range for rank 1"),
]  # fmt: skip

STRICTER = [
    ("clamp makes int64 of bool", "clamp", "bool[2]", {"min": 0, "max": 1}),
    ("the variance of one number is 0/0", "var", "float32[1]", {"dim": (0,), "correction": 1, "keepdim": False}),
    ("one value per group", "group_norm", "float32[2,2]", {"num_groups": 2}),
    ("empty slice", "slice", "float32[3]", {"dim": 0, "start": 2, "end": 2, "step": 1}),
]


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"), BOTH_REFUSE, ids=[f"{op}-{types}-{says}" for op, types, _, says in BOTH_REFUSE]
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.filterwarnings("ignore:var():UserWarning")
@pytest.mark.parametrize(("op", "types", "attrs"), [row[1:] for row in STRICTER], ids=[row[0] for row in STRICTER])
def test_inference_alone_refuses(op: str, types: str, attrs: Attrs) -> None:
    in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid):
        inferred(op, types_of(types), attrs)


@pytest.mark.parametrize(
    ("op", "types", "attrs"),
    [
        ("squeeze", "float32[]", {"dim": 0}),
        ("squeeze", "float32[1,2,1]", {"dim": (0, -1)}),
        ("squeeze", "float32[1,2]", {"dim": ()}),
        ("flatten", "float32[]", {"start_dim": 0, "end_dim": -1}),
        ("flip", "float32[2]", {"dims": ()}),
        ("transpose", "float32[]", {"dim0": 0, "dim1": -1}),
        ("reshape", "float32[0,3]", {"shape": (-1, 3)}),
        ("expand", "float32[1,3]", {"shape": (0, -1)}),
        ("slice", "float32[5]", {"dim": 0, "start": -9, "end": 9, "step": 3}),
        ("split", "float32[3]", {"sizes": (0, 3), "dim": -1}),
        ("pad_constant", "int64[3]", {"pad": (-1, 5), "value": 2}),
        ("pad_circular", "float32[1,3]", {"pad": (3, 3)}),
        ("pad_reflect", "float32[2,4]", {"pad": (3, -1)}),
        ("matmul", "float32[3] float32[3]", {}),
        ("matmul", "float32[5,1,2,3] float32[4,3,2]", {}),
        ("linear", "float64[3] float64[4,3] float64[4]", {}),
        ("max_pool1d", "float32[1,5]", {**window((2,), (1,), dilation=(1,)), "stride": (3,), "ceil_mode": True}),
        ("clamp", "int64[2]", {"min": 1, "max": 2.5}),
        ("add_scalar", "int64[2]", {"other": 0.5}),
        ("add_scalar", "float64[2]", {"other": 1}),
        ("sum", "bool[2]", {"dim": None, "keepdim": True}),
        ("cumsum", "bool[2]", {"dim": 0}),
        ("argmax", "float32[]", {"dim": 0, "keepdim": True}),
        ("cat", "bool[2] float64[1] int64[3]", DIM0),
        ("layer_norm", "float32[2,3] float32[2,3]", {"normalized_shape": (2, 3)}),
    ],
)
def test_corners_that_both_accept_alike(op: str, types: str, attrs: Attrs) -> None:
    assert inferred(op, types_of(types), attrs) == in_torch(op, types_of(types), attrs)


@pytest.mark.parametrize("op", ["sum", "mean", "amax", "logsumexp"])
def test_an_empty_list_of_dims_is_to_be_written_null(op: str) -> None:
    """PyTorch reduces every axis then, which null says without surprise."""
    with pytest.raises(Invalid, match="write null"):
        inferred(op, types_of("float32[2,3]"), {"dim": (), "keepdim": False})


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_number_of_operands_is_checked(op: Op) -> None:
    low, high = op.arity
    for count in (low - 1, high + 1):
        with pytest.raises(Invalid, match=f"^takes {low} to {high} operands, not {count}$"):
            op.results(types_of("float32[2,3]") * count, {})
