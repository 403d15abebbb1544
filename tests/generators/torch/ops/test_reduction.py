"""Rows of `reduction`, `moments`, `scan` and `magnitude`."""

from __future__ import annotations

from math import prod

import pytest
from eager import in_torch, inferred, types_of
from random_calls import REFUSALS, compare_calls

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Form, Invalid
from generators.torch.ops import TABLE, Op, magnitude, moments, reduction, scan

ROWS = (*reduction.OPS, *moments.OPS, *scan.OPS, *magnitude.OPS)
STRICTER = {
    **dict.fromkeys(
        ("sum", "nansum", "prod", "cumsum", "cumprod"), "casts from floats to integers are undefined out of range"
    ),
    "nanmean": "an empty list of dims",
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), "not more numbers than the correction: 0/0"),
    **dict.fromkeys(("trapezoid_points", "cumulative_trapezoid_points"), "points of other shapes"),
    "diff": "for order 0, PyTorch does not check the dim",
    "logsumexp": "an empty list of dims, of an empty operand",
    "pdist": "half precision without any distance",
}


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("op", [op for op in ROWS if "interpolation" not in op.schema], ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    assert compare_calls(op, 150).keys() <= {
        "accepted",
        "refused",
        *(["stricter"] if op.name in STRICTER else []),
    }


@pytest.mark.parametrize(
    ("op", "types", "given", "message"),
    [
        ("sum", "float32[2,3]", {"dim": (2,)}, "dim 2 is out of range for rank 2"),
        ("sum", "float32[2,3]", {"dim": (0, -2)}, "repeat an axis"),
        ("sum", "float32[]", {"dim": (0, -1)}, "repeat an axis"),
        ("mean", "int64[2]", {}, "there is no mean in int64"),
        ("mean", "float32[2]", {"dtype": "int32"}, "there is no mean in int32"),
        ("nanmean", "int64[2]", {"dtype": "float32"}, "is not defined for int64"),
        ("prod", "float32[2,3]", {"keepdim": True}, "takes no keepdim"),
        ("amax", "float32[0,3]", {}, "there is no such element"),
        ("amax", "float32[0,3]", {"dim": 0}, "there is no such element"),
        ("max_dim", "float32[2,0]", {"dim": -1}, "there is no such element"),
        ("argmax", "bool[2]", {"dim": 0}, "is not defined for bool"),
        ("argmin", "float32[0,3]", {}, "there is no such element"),
        ("histc", "int64[2]", {}, "is not defined for int64"),
        ("histc", "float32[2]", {"bins": 0}, "takes at least one bin"),
        ("histc", "float32[2]", {"min": 2, "max": 1}, "min must not be above max"),
        ("logsumexp", "float32[2]", {"dim": ()}, "takes dims"),
        ("var", "int32[2]", {}, "is not defined for int32"),
        ("quantile", "float32[2]", {"q": 1.5}, "takes quantiles from 0 to 1, not 1.5"),
        ("quantile", "float16[2]", {"q": 0.5}, "is not defined for float16"),
        ("quantile", "float32[2,0]", {"q": 0.5, "dim": 0}, "an empty tensor has no quantiles"),
        ("quantile_tensor", "float32[2] float64[1]", {}, "must share one dtype"),
        ("nanquantile_tensor", "float32[2] float32[1,1]", {}, "of rank 0 or 1"),
        ("cumsum", "float32[2]", {"dim": -2}, "dim -2 is out of range for rank 1"),
        ("cumprod", "float32[2]", {"dim": 0, "dtype": "bool"}, "is not defined for bool"),
        ("logcumsumexp", "int64[2]", {"dim": 0}, "is not defined for int64"),
        ("diff", "float32[]", {}, "takes a rank above 0"),
        ("diff", "float32[2]", {"n": -1}, "of an order from 0 on"),
        ("diff", "float32[2,3] float32[1,1]", {}, "cannot be put before or after"),
        ("trapezoid", "bool[2]", {}, "is not defined for bool"),
        ("cumulative_trapezoid", "float32[]", {}, "takes a rank above 0"),
        ("trapezoid_points", "float32[2,3] float32[2]", {}, "takes one point for each number"),
        ("norm", "float32[2,3,4]", {"dim": (0, 1, 2)}, "at most two dims"),
        ("norm", "float32[2]", {"dtype": "float16"}, "norms of float32 are not taken in float16"),
        ("linalg_vector_norm", "float16[2]", {"dtype": "bfloat16"}, "norms of float16 are not taken in bfloat16"),
        ("linalg_vector_norm", "float32[0]", {"ord": "inf"}, "there is no such element"),
        ("linalg_vector_norm", "float32[0]", {"ord": -0.5}, "there is no such element"),
        ("linalg_matrix_norm", "float32[3]", {}, "takes two dims of a rank of 2 or more"),
        ("linalg_matrix_norm", "float32[2,3]", {"dim": (0, -2)}, "repeat an axis"),
        ("linalg_matrix_norm", "float32[3,0]", {"ord": -1}, "there is no such element"),
        ("linalg_matrix_norm", "float32[0,3]", {"ord": "-inf"}, "there is no such element"),
        ("pdist", "float32[3]", {}, "takes rank 2"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs_of(op, **given))
    assert message in str(error.value)
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), attrs_of(op, **given))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("op", "types", "given", "message"),
    [
        ("sum", "float32[2]", {"dtype": "int64"}, "a sum of float32 in int64 is undefined out of range"),
        ("prod", "float32[2]", {"dtype": "uint8"}, "undefined out of range"),
        ("nansum", "float32[2]", {"dim": ()}, "for all of them, or for none"),
        ("var", "float32[1]", {"dim": (0,)}, "takes more numbers than its correction"),
        ("std", "float32[0,2]", {"dim": 0, "correction": 0}, "takes more numbers than its correction"),
        ("cumsum", "bool[0]", {"dim": 0, "dtype": "bool"}, "is not defined for bool"),
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    in_torch(op, types_of(types), attrs_of(op, **given))
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs_of(op, **given))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "types", "given", "expected"),
    [
        ("sum", "bool[2,3]", {"keepdim": True}, "int64[1,1]"),
        ("sum", "float32[2,3]", {"dim": ()}, "float32[]"),
        ("sum", "float32[0,3]", {"dim": 0}, "float32[3]"),
        ("sum", "float32[2]", {"dtype": "bool"}, "bool[]"),
        ("sum", "int8[2]", {"dtype": "uint8"}, "uint8[]"),
        ("nansum", "int16[2,3]", {"dim": (-1, 0), "dtype": "float16"}, "float16[]"),
        ("mean", "uint8[2,3]", {"dim": -1, "keepdim": True, "dtype": "bfloat16"}, "bfloat16[2,1]"),
        ("prod", "bool[]", {"dim": -1, "keepdim": True}, "int64[]"),
        ("amax", "bool[2,3]", {"dim": (-1, 0), "keepdim": True}, "bool[1,1]"),
        ("amin", "float32[0,3]", {"dim": 1}, "float32[0]"),
        ("aminmax", "int8[2,3]", {"dim": 0, "keepdim": True}, "int8[1,3] int8[1,3]"),
        ("max_all", "bfloat16[2,3]", {}, "bfloat16[]"),
        ("min_dim", "bool[2,3]", {"dim": -2}, "bool[3] int64[3]"),
        ("argmax", "float32[]", {"dim": 0, "keepdim": True}, "int64[]"),
        ("argmin", "uint8[2,3]", {"keepdim": True}, "int64[1,1]"),
        ("any", "uint8[2,3]", {"dim": ()}, "uint8[2,3]"),
        ("all", "float16[2,0,3]", {"dim": (1, -1), "keepdim": True}, "bool[2,1,1]"),
        ("count_nonzero", "bool[2,3]", {"dim": ()}, "int64[]"),
        ("histc", "float16[0]", {"bins": 3}, "float16[3]"),
        ("logsumexp", "int8[2,3]", {"dim": (0, -1)}, "float32[]"),
        ("logsumexp", "float64[]", {"dim": ()}, "float64[]"),
        ("var", "float16[2,3]", {"dim": (), "correction": 5}, "float16[]"),
        ("std_mean", "bfloat16[2,3]", {"dim": -1, "correction": -1, "keepdim": True}, "bfloat16[2,1] bfloat16[2,1]"),
        ("quantile", "float64[2,3]", {"q": 1, "keepdim": True}, "float64[1,1]"),
        ("quantile_tensor", "float32[2,3] float32[0]", {"dim": -2, "keepdim": True}, "float32[0,1,3]"),
        ("nanquantile_tensor", "float32[] float32[]", {"interpolation": "nearest"}, "float32[]"),
        ("cumsum", "int8[2,3]", {"dim": -1}, "int64[2,3]"),
        ("cumprod", "bool[]", {"dim": 0, "dtype": "int8"}, "int8[]"),
        ("diff", "bool[2,3]", {"n": 2}, "bool[2,1]"),
        ("diff", "int8[2,3] uint8[2,0] float16[2,2]", {"n": 2}, "float16[2,3]"),
        ("diff", "int8[3] float64[1]", {"n": 0}, "int8[3]"),
        ("diff", "float32[3]", {"n": 9}, "float32[0]"),
        ("trapezoid", "bool[2,0]", {}, "bool[2]"),
        ("trapezoid", "uint8[2,3]", {"dx": 2, "dim": 0}, "float32[3]"),
        ("cumulative_trapezoid", "float16[2,1]", {}, "float16[2,0]"),
        ("cumulative_trapezoid_points", "int8[2,3] bfloat16[2]", {"dim": 0}, "bfloat16[1,3]"),
        ("norm", "bfloat16[2,3]", {"p": "-inf", "dim": (0,), "dtype": "float32"}, "float32[3]"),
        ("linalg_vector_norm", "float32[0,2]", {"ord": "inf", "dim": -1, "keepdim": True}, "float32[0,1]"),
        ("linalg_matrix_norm", "float32[2,3,0]", {"ord": 1, "dim": (-1, 0), "keepdim": True}, "float32[1,3,1]"),
        ("linalg_matrix_norm", "float32[0,3]", {"ord": -1}, "float32[]"),
        ("pdist", "float32[4,0]", {"p": 0}, "float32[6]"),
    ],
)
def test_corners(op: str, types: str, given: dict[str, Attr], expected: str) -> None:
    attrs, count = attrs_of(op, **given), len(expected.split())
    assert inferred(op, types_of(types), attrs) == expected
    forms = [form for form in TABLE[op].forms if form is not Form.INPLACE]
    for form in [Form.PLAIN, *(form for form in forms if TABLE[op].expresses(form, types_of(types), attrs))]:
        assert in_torch(op, types_of(types), attrs, form, count) == expected, form


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
