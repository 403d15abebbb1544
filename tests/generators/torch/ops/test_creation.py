"""Rows of `creation` and `ranges`: tensors made from attributes only, or of the size of another."""

from __future__ import annotations

import pytest
import torch
from conformance.torch.creation import ranging
from eager import in_torch, inferred

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form
from generators.torch.ops import TABLE, Op, creation


@pytest.mark.parametrize("op", ["tril_indices", "triu_indices"])
def test_triangles_of_every_size(op: str) -> None:
    for row in range(5):
        for col in range(5):
            for offset in range(-6, 7):
                attrs = {"row": row, "col": col, "offset": offset, "dtype": None}
                assert inferred(op, (), attrs) == in_torch(op, (), attrs)


@pytest.mark.parametrize(
    ("op", "form", "attrs", "text"),
    [
        (
            "full",
            Form.PLAIN,
            {"size": (2,), "fill_value": 0.5, "dtype": "int8"},
            "torch.full((2,), 0.5, dtype=torch.int8)",
        ),
        ("zeros_like", Form.INPLACE, {"dtype": None}, "a.zero_()"),
        ("empty_like", Form.PLAIN, {"value": 1, "dtype": None}, "torch.empty_like(a).fill_(1)"),
        ("fill", Form.INPLACE, {"value": True}, "a.fill_(True)"),
        ("arange", Form.PLAIN, ranging(0, 5, 1), "torch.arange(5)"),
        ("arange", Form.PLAIN, ranging(0.0, 5, 1, "float16"), "torch.arange(0.0, 5, dtype=torch.float16)"),
        ("arange", Form.PLAIN, ranging(0, 5, 2), "torch.arange(0, 5, 2)"),
        ("arange", Form.FUNCTION, ranging(0, 5, 1), "torch.arange(0, 5, 1)"),
        ("constant", Form.PLAIN, {"data": (1, 2), "dtype": None}, "torch.tensor((1, 2))"),
        ("constant", Form.PLAIN, {"data": 1.5, "dtype": "int8"}, "torch.tensor(1.5, dtype=torch.int8)"),
        ("hann_window", Form.FUNCTION, {"window_length": 3, "periodic": True, "dtype": None}, "torch.hann_window(3)"),
        (
            "hamming_window",
            Form.PLAIN,
            {"window_length": 3, "periodic": True, "alpha": 0.5, "beta": 0.46, "dtype": None},
            "torch.hamming_window(3, True, 0.5, 0.46)",
        ),
    ],
)
def test_source_texts(op: str, form: Form, attrs: Attrs, text: str) -> None:
    assert TABLE[op].render(("a",), attrs, form) == text


def test_windows_are_called_with_a_parameter_only_after_all_earlier_ones() -> None:
    attrs = {"window_length": 3, "periodic": False, "alpha": 0.5, "beta": 0.46, "dtype": None}
    window = TABLE["hamming_window"]
    assert window.render((), attrs, Form.FUNCTION) == "torch.hamming_window(3, False, 0.5)"
    assert window.render((), {**attrs, "beta": 0.5}, Form.FUNCTION) == "torch.hamming_window(3, False, 0.5, 0.5)"
    assert window.render((), {**attrs, "alpha": 0.54}, Form.FUNCTION) == "torch.hamming_window(3, False)"
    assert window.render((), {**attrs, "alpha": 0.54, "periodic": True}, Form.FUNCTION) == "torch.hamming_window(3)"


@pytest.mark.parametrize("op", [op for op in creation.OPS if op.arity == (0, 0)], ids=lambda op: op.name)
def test_created_tensors_are_close_to_their_double_precision_values(op: Op) -> None:
    """The row's terms and scale must cover the rounding of every dtype."""
    for index in range(60):
        builder = Builder(NumpySource(4, index))
        assert builder.grow(op)
        node = builder.nodes[-1]
        type = node.results[0].type
        wide = "float64" if type.dtype.is_float else node.attrs["dtype"]
        result = eval(op.render((), node.attrs, node.form), {"torch": torch})
        reference = eval(op.render((), {**node.attrs, "dtype": wide}, node.form), {"torch": torch})
        if not type.dtype.is_float:
            assert torch.equal(result, reference)
            continue
        terms = op.terms((), node.attrs) if op.terms else 0
        bound = 4 * terms**0.5 * type.dtype.eps * reference.abs().clamp(min=op.scale)
        assert bool(((result.double() - reference).abs() <= bound).all()), node
