"""Rows of `shape`, `move`, `part` and `size`: operators that change shapes, move elements, take parts, or use sizes."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, inferred, types_of

from generators.builder import Builder, OpenSizes
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Symbol, TensorType
from generators.symbolic import Size
from generators.torch.ops import TABLE, move, part, shape, size
from generators.torch.ops.part import slice_size

ROWS = (*move.OPS, *part.OPS, *size.OPS, *(op for op in shape.OPS if op not in (*move.OPS, *part.OPS, *size.OPS)))


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


@pytest.mark.slow
def test_every_row_is_drawn_with_a_symbol() -> None:
    """With a symbol, at least half of the draws of each row must be valid for the other size too."""
    for op in ROWS:
        grown = 0
        for index in range(40):
            builder = Builder(NumpySource(2, index), open_sizes=OpenSizes([Symbol("n", 1, 6)], {"n": 6}, [{"n": 1}]))
            grown += builder.grow(op)
        assert grown >= 20, op.name
