"""Rows of `random`, and dropout in training: random calls whose result does not depend on the random numbers."""

from __future__ import annotations

import pytest
import torch
from eager import inferred, run_case, types_of
from form_comparison import compare_forms
from random_calls import compare_calls

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, random

ROWS = (*random.OPS, TABLE["dropout_training"], TABLE["dropout_inplace"])
EACH_ROW = pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
NONE: Attrs = {"dtype": None}


@EACH_ROW
@pytest.mark.exhaustive
def test_pytorch_accepts_every_random_call_that_the_row_accepts(op: Op) -> None:
    assert compare_calls(op, 200).keys() <= {"accepted", "refused", "stricter"}


@EACH_ROW
def test_a_second_run_and_every_form_give_the_same_results(op: Op) -> None:
    for index in range(20):
        builder = Builder(NumpySource(4, index), Limits(max_numel=64))
        if builder.grow(op):
            case = with_values(builder)
            for once, again in zip(run_case(case), run_case(case), strict=True):
                assert torch.equal(once.nan_to_num(), again.nan_to_num())
    if op.forms:
        compared, wrong = compare_forms(op, 60)
        assert not wrong
        assert all(compared[form] for form in op.forms)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("bernoulli", "float32[2]", {"p": 0.5}, "the result is random unless p is 0 or 1"),
        ("dropout_training", "float32[2]", {"p": 0.5}, "the result is random unless p is 0 or 1"),
        ("dropout_training", "int64[2]", {"p": 1.0}, "is not defined for int64"),
        ("dropout_inplace", "float32[2]", {"p": 1.5}, "p must be a probability"),
        ("add_noise", "int64[2]", NONE, "there is no such noise in int64"),
        ("no_noise", "", {"size": (2,), "dtype": "int8"}, "there is no such noise in int8"),
        ("no_noise", "", {"size": (-1,), "dtype": None}, "sizes [-1] must not be negative"),
        ("exponential_sign", "float32[2]", {"lambd": 0.0, **NONE}, "lambd must be positive"),
    ],
)
def test_inference_refuses(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "form", "attrs", "text", "result"),
    [
        ("bernoulli", Form.PLAIN, {"p": 1.0}, "torch.bernoulli(x, 1.0)", [1.0, 1.0]),
        ("bernoulli", Form.INPLACE, {"p": 0.0}, "x.bernoulli_(0.0)", [0.0, 0.0]),
        ("add_noise", Form.PLAIN, NONE, "x + 0.0 * torch.randn_like(x)", [3.0, -2.0]),
        ("no_noise", Form.PLAIN, {"size": (2,), **NONE}, "torch.randn((2,)) * 0.0", [0.0, 0.0]),
        (
            "exponential_sign",
            Form.PLAIN,
            {"lambd": 2.0, "dtype": "float16"},
            "torch.empty_like(x, dtype=torch.float16).exponential_(2.0) >= 0",
            [True, True],
        ),
        ("dropout_training", Form.PLAIN, {"p": 1.0}, "F.dropout(x, 1.0, training=True)", [0.0, 0.0]),
        ("dropout_training", Form.FUNCTION, {"p": 0.0}, "torch.dropout(x, 0.0, True)", [3.0, -2.0]),
        ("dropout_inplace", Form.PLAIN, {"p": 0.5}, "F.dropout(x.clone(), 0.5, False, inplace=True)", [3.0, -2.0]),
    ],
)
def test_source_text_and_results(op: str, form: Form, attrs: Attrs, text: str, result: list[float]) -> None:
    assert TABLE[op].render(("x",), attrs, form) == text
    scope = {"torch": torch, "F": torch.nn.functional, "x": torch.tensor([3.0, -2.0])}
    assert eval(text, scope).tolist() == result
