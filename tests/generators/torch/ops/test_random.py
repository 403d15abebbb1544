"""Rows of `random`, and dropout in training: the result does not depend on the random numbers."""

from __future__ import annotations

import pytest
import torch
from conformance.torch.random import NONE
from eager import run_case

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Form
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, random

ROWS = (*random.OPS, TABLE["dropout_training"], TABLE["dropout_inplace"])
EACH_ROW = pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)


@EACH_ROW
def test_a_second_run_gives_the_same_results(op: Op) -> None:
    for index in range(20):
        builder = Builder(NumpySource(4, index), Limits(max_numel=64))
        if builder.grow(op):
            case = with_values(builder)
            for once, again in zip(run_case(case), run_case(case), strict=True):
                assert torch.equal(once.nan_to_num(), again.nan_to_num())


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
