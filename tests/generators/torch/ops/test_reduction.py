"""Rows of `reduction`, `moments`, `scan` and `magnitude`."""

from __future__ import annotations

from math import prod

import pytest
from eager import types_of

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Form
from generators.torch.ops import TABLE


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.parametrize(
    ("op", "form", "given", "text"),
    [
        ("sum", Form.PLAIN, {}, "torch.sum(a, dim=None)"),
        ("sum", Form.FUNCTION, {}, "torch.sum(a)"),
        ("sum", Form.METHOD, {"dtype": "int8"}, "a.sum(None, False, dtype=torch.int8)"),
        ("prod", Form.FUNCTION, {}, "torch.prod(a, dtype=None)"),
        ("amax", Form.PLAIN, {"dim": (0, -1)}, "torch.amax(a, dim=(0, -1))"),
        ("max_dim", Form.FUNCTION, {"dim": 1, "keepdim": True}, "torch.max(a, 1, True)"),
        ("max_all", Form.METHOD, {}, "a.max()"),
        ("var", Form.FUNCTION, {"dim": 0}, "torch.var(a, dim=0, unbiased=True, keepdim=False)"),
        ("std_mean", Form.PLAIN, {"correction": 2}, "torch.std_mean(a, correction=2)"),
        ("norm", Form.PLAIN, {"p": "-inf"}, 'torch.norm(a, p=float("-inf"))'),
        ("norm", Form.METHOD, {}, "a.norm('fro', None, False, dtype=None)"),
        ("linalg_vector_norm", Form.FUNCTION, {"dim": 1}, "torch.linalg.norm(a, ord=2, dim=1)"),
        ("cumsum", Form.INPLACE, {"dim": 1}, "a.cumsum_(1)"),
    ],
)
def test_source_texts_of_forms(op: str, form: Form, given: dict[str, Attr], text: str) -> None:
    assert TABLE[op].expresses(form, types_of("float32[2,3]"), attrs_of(op, **given))
    assert TABLE[op].render(("a",), attrs_of(op, **given), form) == text


def test_diff_is_called_with_prepend_and_append_by_name() -> None:
    attrs = {"n": 2, "dim": -1}
    assert TABLE["diff"].render(("a", "b"), attrs) == "torch.diff(a, n=2, dim=-1, prepend=b)"
    assert TABLE["diff"].render(("a", "b", "c"), attrs, Form.METHOD) == "a.diff(n=2, dim=-1, prepend=b, append=c)"


@pytest.mark.parametrize(
    ("op", "form", "given"),
    [
        ("sum", Form.FUNCTION, {"keepdim": True}),
        ("prod", Form.METHOD, {}),
        ("std", Form.FUNCTION, {"correction": 2}),
        ("linalg_vector_norm", Form.FUNCTION, {"dim": (0, 1)}),
        ("cumsum", Form.INPLACE, {"dim": 0, "dtype": "float64"}),
    ],
)
def test_calls_that_a_form_cannot_express(op: str, form: Form, given: dict[str, Attr]) -> None:
    assert not TABLE[op].expresses(form, types_of("float32[2,3]"), attrs_of(op, **given))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "any", "count_nonzero", "norm"])
def test_all_types_of_dim_are_drawn(name: str) -> None:
    drawn = []
    for index in range(200):
        builder = Builder(NumpySource(1, index))
        if builder.grow(TABLE[name]):
            drawn.append(builder.nodes[-1].attrs["dim"])
    assert {type(dim) for dim in drawn} == {type(None), int, tuple}
    assert () in drawn
    assert any(isinstance(dim, tuple) and len([axis for axis in dim if axis < 0]) > 1 for dim in drawn)
    assert 0.2 * len(drawn) < drawn.count(None) < 0.5 * len(drawn)


def test_products_of_integers_stay_small() -> None:
    for index in range(200):
        builder = Builder(NumpySource(1, index))
        assert builder.grow(TABLE["prod"])
        node = builder.nodes[-1]
        clamps = [n.attrs["max"] for n in builder.nodes[:-1] if n.op == "clamp"]
        (x,) = (value.type for value in builder.graph().values() if value.name == node.args[0])
        assert prod([clamps[-1]] * x.numel) < 2**31 if clamps else x.dtype == "bool"
