"""Rows of `creation` and `ranges`: tensors made from attributes only, or of the size of another."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, inferred, types_of
from random_calls import compare_calls, refused_by_both

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form
from generators.torch.ops import TABLE, Op, creation

STRICTER = {
    "constant": "PyTorch makes too large numbers infinite",
    "one_hot": "with -1 classes the shape would depend on the numbers",
    "arange": "fractions in integer dtypes, and numbers that they cannot hold",
    "linspace": "integers that depend on rounding, and bool of at most one step",
    "logspace": "powers of numbers that are not positive, and truncated powers",
} | dict.fromkeys(
    ("full", "full_like", "new_full", "empty", "empty_like", "new_empty", "fill", "scalar_tensor"),
    "for float16 of one element PyTorch does not check whether the number fits",
)
VALUES_MATTER = "one_hot"  # PyTorch refuses numbers of num_classes and above


@pytest.mark.parametrize("op", creation.OPS, ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    counts = compare_calls(op, 150)
    wrong = counts.keys() - {"accepted", "refused", *(["stricter"] if op.name in STRICTER else [])}
    assert not wrong or op.name == VALUES_MATTER


def ranging(start: float, end: float, step: float, dtype: str | None = None) -> Attrs:
    return {"start": start, "end": end, "step": step, "dtype": dtype}


def line(start: float, end: float, steps: int, dtype: str | None = None) -> Attrs:
    return {"start": start, "end": end, "steps": steps, "dtype": dtype}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("full", "", {"size": (-1,), "fill_value": 1, "dtype": None}, "sizes [-1] must not be negative"),
        ("full", "", {"size": (2,), "fill_value": 128, "dtype": "int8"}, "int8 cannot hold 128"),
        ("full", "", {"size": (2,), "fill_value": -0.5, "dtype": "uint8"}, "uint8 cannot hold -0.5"),
        ("full", "", {"size": (2,), "fill_value": 1e6, "dtype": "float16"}, "1000000.0 is too large for float16"),
        ("fill", "int8[2]", {"value": 300}, "int8 cannot hold 300"),
        ("fill_tensor", "int8[2] int8[1]", {}, "fills with a 0-d tensor"),
        ("constant", "", {"data": (1, 300), "dtype": "uint8"}, "uint8 cannot hold 300"),
        ("arange", "", ranging(0, 3, 0), "step must not be zero"),
        ("arange", "", ranging(0, 3, -1), "step -1 leads away from 3"),
        ("arange", "", ranging(0, 3, 1, "bool"), "arange is not defined for bool"),
        ("linspace", "", line(0, 3, -1), "steps must not be negative"),
        ("linspace", "", line(0, 3, 4, "bool"), "is not defined for bool"),
        ("eye", "", {"n": -1, "m": None, "dtype": None}, "must not be negative"),
        ("tril_indices", "", {"row": 3, "col": 3, "offset": 0, "dtype": "int8"}, "is not defined for int8"),
        ("hann_window", "", {"window_length": -1, "periodic": True, "dtype": None}, "must not be negative"),
        ("kaiser_window", "", {"window_length": 3, "periodic": True, "beta": 12.0, "dtype": "int8"}, "not defined"),
        ("one_hot", "int32[2]", {"num_classes": 3}, "is not defined for int32"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    refused_by_both(op, types_of(types), attrs, message)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("full", "", {"size": (), "fill_value": True, "dtype": None}, "bool[]"),
        ("full", "", {"size": (0, 2), "fill_value": 1, "dtype": None}, "int64[0,2]"),
        ("full", "", {"size": (2,), "fill_value": 0.5, "dtype": None}, "float32[2]"),
        ("full", "", {"size": (2,), "fill_value": -255, "dtype": "uint8"}, "uint8[2]"),
        ("full_like", "int8[2]", {"fill_value": 2.5, "dtype": None}, "int8[2]"),
        ("new_full", "bool[2]", {"size": (3,), "fill_value": 2.5, "dtype": None}, "bool[3]"),
        ("new_ones", "bool[2]", {"size": (3,), "dtype": "float16"}, "float16[3]"),
        ("empty", "", {"size": (3,), "value": 1, "dtype": None}, "float32[3]"),
        ("fill_tensor", "int8[2] float64[]", {}, "int8[2]"),
        ("constant", "", {"data": (), "dtype": None}, "float32[0]"),
        ("constant", "", {"data": (True, 2), "dtype": None}, "int64[2]"),
        ("constant", "", {"data": (True, 2.5), "dtype": None}, "float32[2]"),
        ("constant", "", {"data": False, "dtype": None}, "bool[]"),
        ("scalar_tensor", "", {"s": 2, "dtype": None}, "float32[]"),
        ("arange", "", ranging(5, 0, -2), "int64[3]"),
        ("arange", "", ranging(0.0, 2, 1), "float32[2]"),
        ("arange", "", ranging(0, 0.3, 0.1), "float32[3]"),
        ("arange", "", ranging(0, 0.7, 0.1), "float32[7]"),
        ("linspace", "", line(0, 3, 0), "float32[0]"),
        ("linspace", "", line(3, -3, 7, "int8"), "int8[7]"),
        ("eye", "", {"n": 0, "m": 2, "dtype": "bool"}, "bool[0,2]"),
        ("blackman_window", "", {"window_length": 0, "periodic": False, "dtype": None}, "float32[0]"),
        ("one_hot", "int64[]", {"num_classes": 2}, "int64[2]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == in_torch(op, types_of(types), attrs) == result


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
