"""Rows of `shape`, `move`, `part` and `size`: operators that change shapes, move elements, take parts, or use sizes."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, inferred, types_of
from random_calls import compare_calls, refused_by_both

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Symbol, TensorType
from generators.symbolic import Size
from generators.torch.ops import TABLE, Op, move, part, shape, size
from generators.torch.ops.part import slice_size

ROWS = (*move.OPS, *part.OPS, *size.OPS, *(op for op in shape.OPS if op not in (*move.OPS, *part.OPS, *size.OPS)))

STRICTER = {
    "mT": "deprecated on 0-d tensors",
    "adjoint": "deprecated on 0-d tensors",
    "roll": "PyTorch does not check the dims of an empty tensor",
    "repeat": "a negative count of an empty tensor",
    "tile": "a negative count of an empty tensor",
    "reshape_keep": "a number of dimensions that the tensor does not have",
    "reshape_merge": "the same dimension twice",
    "reshape_heads": "features that the heads do not divide",
    "full_size": "dimensions that a 0-d tensor does not have",
    "linspace_size": "integers that depend on rounding",
    "expand": "PyTorch accepts a size of -1 next to a size of 0",
    "broadcast_to": "PyTorch accepts a size of -1 next to a size of 0",
    "as_strided": "PyTorch accepts a size of -1 next to a size of 0",
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    counts = compare_calls(op, 150)
    assert counts.keys() <= {"accepted", "refused", *(["stricter"] if op.name in STRICTER else [])}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("squeeze", "float32[1,2]", {"dim": 2}, "dim 2 is out of range for rank 2"),
        ("squeeze", "float32[1,2]", {"dim": (0, -2)}, "repeat an axis"),
        ("unsqueeze", "float32[2]", {"dim": -3}, "dim -3 is out of range for rank 2"),
        ("flatten", "float32[2,3,4]", {"start_dim": 2, "end_dim": 1}, "start_dim must not come after end_dim"),
        ("unflatten", "float32[6]", {"dim": 0, "sizes": ()}, "unflatten takes sizes"),
        ("unflatten", "float32[6]", {"dim": 0, "sizes": (4, -1)}, "[6] cannot be reshaped to (4, -1)"),
        ("reshape", "float32[2,3]", {"shape": (4,)}, "[2, 3] cannot be reshaped to (4,)"),
        ("reshape", "float32[2,3]", {"shape": (-1, 4)}, "cannot be reshaped to (-1, 4)"),
        ("reshape", "float32[2,3]", {"shape": (-1, -1)}, "only one dimension can be inferred"),
        ("view", "float32[0,3]", {"size": (0, -1)}, "[0, 3] cannot be reshaped to (0, -1)"),
        ("view_as", "float32[2,3] float32[5]", {}, "cannot be reshaped to (5,)"),
        ("expand", "float32[2,3]", {"shape": (2, 4)}, "cannot be expanded to (2, 4)"),
        ("expand", "float32[2,3]", {"shape": (3,)}, "cannot be expanded to rank 1"),
        ("expand", "float32[2]", {"shape": (-1, 2)}, "-1 in expand needs an existing dimension"),
        ("permute", "float32[2,3]", {"dims": (0,)}, "takes 2 dims, not 1"),
        ("permute", "float32[2,3]", {"dims": (0, 0)}, "repeat an axis"),
        ("transpose", "float32[2,3]", {"dim0": 0, "dim1": 2}, "dim 2 is out of range for rank 2"),
        ("t", "float32[2,3,4]", {}, "t takes at most rank 2"),
        ("movedim", "float32[2,3]", {"source": 0, "destination": (1,)}, "two integers or two lists"),
        ("movedim", "float32[2,3]", {"source": (0, 1), "destination": (1,)}, "2 dimensions cannot go to 1 places"),
        ("flip", "float32[2,3]", {"dims": (0, -2)}, "repeat an axis"),
        ("roll", "float32[2,3]", {"shifts": (1, 2), "dims": None}, "2 shifts without dims"),
        ("roll", "float32[2,3]", {"shifts": (1, 2), "dims": (0,)}, "2 shifts for 1 dims"),
        ("rot90", "float32[2,3]", {"k": 1, "dims": (0, -2)}, "repeat an axis"),
        ("repeat", "float32[2,3]", {"repeats": (2,)}, "takes 2 or more counts"),
        ("repeat_interleave", "float32[2]", {"repeats": 2, "dim": 0, "output_size": 3}, "output_size 3 is not 4"),
        ("repeat_interleave", "float32[]", {"repeats": 2, "dim": 0, "output_size": None}, "without dim only"),
        ("channel_shuffle", "float32[1,4,3]", {"groups": 3}, "3 groups do not divide the channels"),
        ("slice", "float32[]", {"dim": 0, "start": None, "end": None, "step": 1}, "a rank above 0"),
        ("slice", "float32[4]", {"dim": 0, "start": None, "end": None, "step": 0}, "a positive step"),
        ("slice", "float32[4]", {"dim": 0, "start": None, "end": None, "step": -1}, "a positive step"),
        ("narrow", "float32[4]", {"dim": 0, "start": 3, "length": 2}, "2 from 3 is out of range for size 4"),
        ("narrow", "float32[4]", {"dim": 0, "start": -5, "length": 1}, "start -5 is out of range for size 4"),
        ("select", "float32[2,3]", {"dim": 1, "index": 3}, "index 3 is out of range for size 3"),
        ("select", "float32[2,3]", {"dim": -1, "index": -4}, "index -4 is out of range for size 3"),
        ("unfold", "float32[3]", {"dimension": 0, "size": 4, "step": 1}, "windows of 4, 1 apart, do not fit 3"),
        (
            "as_strided",
            "float32[4]",
            {"size": (2, 2), "stride": (1, 2), "storage_offset": 1},
            "element 4 is not in float32[4]",
        ),
        ("diagonal", "float32[2,3]", {"offset": 0, "dim1": 1, "dim2": -1}, "two different dims"),
        ("diag", "float32[2,3,4]", {"diagonal": 0}, "diag takes rank 1 or 2"),
        ("tril", "float32[3]", {"diagonal": 0}, "takes matrices"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    refused_by_both(op, types_of(types), attrs, message)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("squeeze", "float32[]", {"dim": 0}, "float32[]"),
        ("squeeze", "float32[1,2,1]", {"dim": (0, -1)}, "float32[2]"),
        ("squeeze", "float32[1,2]", {"dim": ()}, "float32[1,2]"),
        ("atleast_2d", "int8[4]", {}, "int8[1,4]"),
        ("atleast_3d", "int8[]", {}, "int8[1,1,1]"),
        ("atleast_3d", "int8[4]", {}, "int8[1,4,1]"),
        ("atleast_3d", "int8[4,5]", {}, "int8[4,5,1]"),
        ("flatten", "float32[]", {"start_dim": 0, "end_dim": -1}, "float32[1]"),
        ("unflatten", "float32[0,3]", {"dim": -2, "sizes": (2, -1)}, "float32[2,0,3]"),
        ("reshape", "float32[0,3]", {"shape": (-1, 3)}, "float32[0,3]"),
        ("reshape", "float32[1,1]", {"shape": ()}, "float32[]"),
        ("expand", "float32[1,3]", {"shape": (0, -1)}, "float32[0,3]"),
        ("transpose", "float32[]", {"dim0": 0, "dim1": -1}, "float32[]"),
        ("movedim", "bool[2,3,4]", {"source": (0, -1), "destination": (1, 0)}, "bool[4,2,3]"),
        ("flip", "float32[2]", {"dims": ()}, "float32[2]"),
        ("roll", "float32[]", {"shifts": (3,), "dims": None}, "float32[]"),
        ("roll", "float32[3,4]", {"shifts": (1, 2), "dims": (0, 0)}, "float32[3,4]"),
        ("rot90", "float32[2,3,4]", {"k": -3, "dims": (2, 0)}, "float32[4,3,2]"),
        ("repeat", "float32[2,3]", {"repeats": (0, 2, 1)}, "float32[0,4,3]"),
        ("tile", "float32[2,3]", {"dims": (2,)}, "float32[2,6]"),
        ("repeat_interleave", "bool[2,3]", {"repeats": 2, "dim": None, "output_size": 12}, "bool[12]"),
        ("slice", "float32[5]", {"dim": 0, "start": -9, "end": 9, "step": 3}, "float32[2]"),
        ("slice", "float32[3]", {"dim": 0, "start": 2, "end": 1, "step": 1}, "float32[0]"),
        ("narrow", "float32[4]", {"dim": 0, "start": 4, "length": 0}, "float32[0]"),
        ("unfold", "float32[]", {"dimension": -1, "size": 1, "step": 7}, "float32[1]"),
        ("unfold", "float32[5,2]", {"dimension": -2, "size": 2, "step": 3}, "float32[2,2,2]"),
        ("as_strided", "float32[2,2]", {"size": (3, 2), "stride": (0, 3), "storage_offset": None}, "float32[3,2]"),
        ("diagonal", "float32[3,4,5]", {"offset": -1, "dim1": -1, "dim2": 0}, "float32[4,3]"),
        ("diagonal", "float32[3,4]", {"offset": 9, "dim1": 0, "dim2": 1}, "float32[0]"),
        ("diag", "float32[0]", {"diagonal": -2}, "float32[2,2]"),
        ("diag_embed", "float32[2,3]", {"offset": -1, "dim1": 0, "dim2": -1}, "float32[4,2,4]"),
        ("diagflat", "float32[]", {"offset": 1}, "float32[2,2]"),
        ("reshape_keep", "float32[2,3,4]", {"keep": 2}, "float32[2,3,4]"),
        ("reshape_keep", "float32[2,3,4]", {"keep": -1}, "float32[6,4]"),
        ("reshape_keep", "float32[2]", {"keep": 1}, "float32[2,1]"),
        ("reshape_merge", "float32[2,3,4]", {"dims": (-1, 0)}, "float32[8,3]"),
        ("reshape_heads", "float32[2,5,12]", {"heads": 3}, "float32[2,5,3,4]"),
        ("times_size", "bool[2]", {"dim": 0}, "int64[2]"),
        ("times_size", "int8[300]", {"dim": 0}, "int8[300]"),
        ("over_size", "uint8[2]", {"dim": -1}, "float32[2]"),
        ("over_numel", "float16[]", {}, "float16[]"),
        ("arange_size", "float32[2,5]", {"dim": -1, "dtype": None}, "int64[5]"),
        ("full_size", "bool[2,5]", {"dims": (1, 1), "fill_value": 0.5, "dtype": None}, "float32[5,5]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == in_torch(op, types_of(types), attrs) == result


@pytest.mark.parametrize(
    ("op", "form", "attrs", "text"),
    [
        ("squeeze", Form.PLAIN, {"dim": None}, "a.squeeze()"),
        ("squeeze", Form.PLAIN, {"dim": (0, -1)}, "a.squeeze((0, -1))"),
        ("squeeze", Form.FUNCTION, {"dim": -1}, "torch.squeeze(a, dim=-1)"),
        ("unsqueeze", Form.OPERATOR, {"dim": 1}, "a[:, None]"),
        ("unsqueeze", Form.OPERATOR, {"dim": -2}, "a[..., None, :]"),
        ("flatten", Form.PLAIN, {"start_dim": 1, "end_dim": -1}, "torch.flatten(a, start_dim=1)"),
        ("view", Form.PLAIN, {"size": (2, -1)}, "a.contiguous().view((2, -1))"),
        ("slice", Form.PLAIN, {"dim": 0, "start": None, "end": -1, "step": 1}, "a[:-1]"),
        ("slice", Form.PLAIN, {"dim": 1, "start": 1, "end": None, "step": 2}, "a[:, 1::2]"),
        ("slice", Form.PLAIN, {"dim": -2, "start": 1, "end": 2, "step": 1}, "a[..., 1:2, :]"),
        ("select", Form.OPERATOR, {"dim": 1, "index": -1}, "a[:, -1]"),
        ("select", Form.OPERATOR, {"dim": -1, "index": 0}, "a[..., 0]"),
        ("roll", Form.PLAIN, {"shifts": 1, "dims": None}, "torch.roll(a, 1)"),
        ("tril", Form.INPLACE, {"diagonal": -1}, "a.tril_(-1)"),
        ("reshape_keep", Form.PLAIN, {"keep": 2}, "a.reshape(a.size(0), a.size(1), -1)"),
        ("reshape_keep", Form.METHOD, {"keep": -1}, "a.contiguous().view(-1, a.shape[-1])"),
        ("reshape_merge", Form.PLAIN, {"dims": (0, -1)}, "a.reshape(a.size(0) * a.size(-1), -1)"),
        (
            "full_size",
            Form.PLAIN,
            {"dims": (0, -1), "fill_value": True, "dtype": "int8"},
            "torch.full((a.size(0), a.size(-1),), True, dtype=torch.int8)",
        ),
    ],
)
def test_source_texts(op: str, form: Form, attrs: Attrs, text: str) -> None:
    assert TABLE[op].render(("a",), attrs, form) == text


@pytest.mark.parametrize(
    ("op", "types", "attrs"),
    [
        ("flatten", "float32[2,3,4]", {"start_dim": 1, "end_dim": -1}),
        ("unflatten", "float32[2,6]", {"dim": -1, "sizes": (2, -1)}),
        ("channel_shuffle", "float32[1,4,3]", {"groups": 2}),
    ],
)
def test_layers_give_the_inferred_type(op: str, types: str, attrs: Attrs) -> None:
    assert in_torch(op, types_of(types), attrs, Form.MODULE) == inferred(op, types_of(types), attrs)


@pytest.mark.parametrize(
    ("op", "attrs", "result"),
    [
        ("reshape", {"shape": (2, -1)}, "float32[2,2*n]"),
        ("flatten", {"start_dim": 0, "end_dim": 1}, "float32[4*n]"),
        ("slice", {"dim": 0, "start": 1, "end": None, "step": 2}, "float32[(n)//2,4]"),
        ("slice", {"dim": 0, "start": None, "end": -1, "step": 1}, "float32[n-1,4]"),
        ("unfold", {"dimension": 0, "size": 2, "step": 1}, "float32[n-1,4,2]"),
        ("repeat", {"repeats": (3, 1)}, "float32[3*n,4]"),
        ("reshape_keep", {"keep": -1}, "float32[n,4]"),
        ("reshape_merge", {"dims": (0, 1)}, "float32[4*n,1]"),
        ("arange_size", {"dim": 0, "dtype": None}, "int64[n]"),
        ("full_size", {"dims": (0, 0), "fill_value": 1.0, "dtype": None}, "float32[n,n]"),
    ],
)
def test_symbolic_sizes_keep_their_formula(op: str, attrs: Attrs, result: str) -> None:
    x = TensorType.parse("float32[6,4]").with_shape(Size.symbol("n", 6), 4)
    assert str(TABLE[op].results((x,), attrs)[0].formal()) == result


def test_slice_size_is_that_of_python() -> None:
    bounds = (None, *range(-6, 7))
    for count in range(5):
        for start in bounds:
            for end in bounds:
                for step in (1, 2, 3):
                    assert slice_size(count, start, end, step) == len(range(count)[start:end:step])


def test_as_strided_reads_only_elements_of_its_operand() -> None:
    text = TABLE["as_strided"].render(("a[4:]",), {"size": (2,), "stride": (1,), "storage_offset": 0})
    assert eval(text, {"torch": torch, "a": torch.arange(8)}).tolist() == [4, 5]


def test_rows_that_are_not_marked_as_views_return_copies() -> None:
    """Otherwise a call that works in place could change values that other nodes read."""
    copies = {op.name for op in ROWS if not op.view}
    for op in ROWS:
        for index in range(20):
            builder = Builder(NumpySource(1, index))
            if not builder.grow(op) or len(builder.inputs) > 1 or op.name not in copies:
                continue
            x = torch.ones(builder.inputs[0].value.type.sizes, dtype=torch.float32)
            out = eval(op.render(("x",), builder.nodes[-1].attrs), {"torch": torch, "F": torch.nn.functional, "x": x})
            assert not x.numel() or out.untyped_storage().data_ptr() != x.untyped_storage().data_ptr(), op.name


def test_every_row_is_drawn_with_a_symbol() -> None:
    """With a symbol, at least half of the draws of each row must be valid for the other size too."""
    for op in ROWS:
        grown = 0
        for index in range(40):
            builder = Builder(NumpySource(2, index), symbols=[Symbol("n", 1, 6)], sizes={"n": 6}, also=[{"n": 1}])
            grown += builder.grow(op)
        assert grown >= 20, op.name
