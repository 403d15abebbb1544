"""Rows of `sort` and `search`."""

from __future__ import annotations

import numpy as np
import pytest
from eager import in_torch, inferred, types_of
from random_calls import REFUSALS, compare_calls

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import Bounds
from generators.graph import Attr, Attrs, Form, Invalid, Profile
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op, magnitude, moments, scan, sort
from generators.torch.ops.axes import ranked_axis, without_ties

OTHERS = (*moments.OPS, *scan.OPS, *magnitude.OPS)  # listed in `sort`
ROWS = [op for op in sort.OPS if op not in OTHERS]
STRICTER = {
    **dict.fromkeys(("cummax", "cummin"), "PyTorch does not check the dim of an empty tensor"),
    **dict.fromkeys(("cummax_values", "cummin_values"), "as cummax"),
    **dict.fromkeys(("topk", "topk_values"), "several unsorted numbers, and no numbers of a 0-d tensor"),
    **dict.fromkeys(("kthvalue", "kthvalue_values"), "bool, for one number"),
    **dict.fromkeys(("median", "nanmedian"), "the median of an empty tensor"),
    **dict.fromkeys(("median_dim", "nanmedian_dim"), "an empty tensor of bool"),
    **dict.fromkeys(("median_dim_values", "nanmedian_dim_values"), "as median_dim"),
    **dict.fromkeys(("searchsorted", "bucketize"), "empty tensors of bool"),
    **dict.fromkeys(
        ("isin", "isin_unique", "isin_number", "number_isin"), "test elements with strides, numbers out of range"
    ),
}
UNSTABLE = [op.name for op in sort.OPS if f"{op.name}_values" in TABLE] + ["argsort"]


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
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
        ("sort", "float32[2,3]", {"dim": 2}, "dim 2 is out of range for rank 2"),
        ("argsort_stable", "float32[]", {"dim": 1}, "dim 1 is out of range for rank 0"),
        ("topk", "float32[3]", {"k": 4}, "there are no 4 largest of 3"),
        ("topk", "bool[3]", {"k": 1}, "is not defined for bool"),
        ("topk_values", "float32[0,3]", {"k": 1, "dim": 0}, "there are no 1 largest of 0"),
        ("kthvalue", "float32[3]", {"k": 0}, "there is no number 0 of 3"),
        ("kthvalue_values", "float32[2,3]", {"k": 3, "dim": 0}, "there is no number 3 of 2"),
        ("median", "bool[2]", {}, "is not defined for bool"),
        ("nanmedian_dim", "float32[0,3]", {"dim": 0}, "there is no such element"),
        ("cummax", "float32[2]", {"dim": 1}, "dim 1 is out of range for rank 1"),
        ("searchsorted", "float32[] float32[2]", {}, "takes a sequence, not a number"),
        ("searchsorted", "float32[2,3] float32[3,3]", {}, "differ in more than the last dimension"),
        ("searchsorted", "bool[3] bool[2]", {}, "is not defined for bool"),
        ("searchsorted", "float32[3] float32[2]", {"side": "left", "right": True}, "must not be opposites"),
        ("searchsorted_number", "float32[2,3]", {"input": 1}, "takes a vector"),
        ("bucketize", "float32[2] float32[2,3]", {}, "takes a vector of boundaries"),
        ("isin", "bool[2] float32[2]", {}, "is not defined for bool"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs_of(op, **given))
    assert message in str(error.value)
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), attrs_of(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "message"),
    [
        ("topk_values", "float32[3]", {"k": 2, "sorted": False}, "may come in any order"),
        ("topk_values", "float32[]", {"k": 0}, "there are no 0 largest"),
        ("median", "int32[0]", {}, "there is no such element"),
        ("isin", "float32[2] float32[2,3]", {}, "takes a list of tests"),
        ("isin_number", "int8[2]", {"test_element": 300}, "int8 cannot hold 300"),
        ("number_isin", "uint8[2]", {"element": -1}, "uint8 cannot hold -1"),
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
        ("sort", "bool[2,3]", {"dim": 0, "descending": True, "stable": True}, "bool[2,3] int64[2,3]"),
        ("sort", "float32[]", {}, "float32[] int64[]"),
        ("sort_stable", "uint8[2,0]", {}, "uint8[2,0] int64[2,0]"),
        ("sort_values", "float16[3]", {"stable": True}, "float16[3]"),
        ("argsort", "int8[2,3]", {"dim": -2}, "int64[2,3]"),
        ("argsort_stable", "bool[2]", {"descending": True}, "int64[2]"),
        ("msort", "bool[]", {}, "bool[]"),
        ("topk", "int8[2,3]", {"k": 0, "dim": 0}, "int8[0,3] int64[0,3]"),
        ("topk", "float32[]", {"k": 1, "sorted": False}, "float32[] int64[]"),
        ("topk_values", "float16[0,3]", {"k": 3, "largest": False}, "float16[0,3]"),
        ("kthvalue", "uint8[2,3]", {"k": 3, "keepdim": True}, "uint8[2,1] int64[2,1]"),
        ("kthvalue_values", "float32[]", {"k": 1}, "float32[]"),
        ("median", "int8[2,2]", {}, "int8[]"),
        ("nanmedian_dim", "bfloat16[0,3]", {"dim": 1, "keepdim": True}, "bfloat16[0,1] int64[0,1]"),
        ("median_dim_values", "int16[2,3]", {"dim": -2}, "int16[3]"),
        ("cummin", "bool[2,0]", {"dim": 1}, "bool[2,0] int64[2,0]"),
        ("searchsorted", "float32[0] bool[2,3]", {"side": "right", "out_int32": True}, "int32[2,3]"),
        ("searchsorted", "int8[2,3] float16[2,0]", {}, "int64[2,0]"),
        ("searchsorted", "int8[3] float16[]", {"right": True, "side": "right"}, "int64[]"),
        ("searchsorted_number", "bool[3]", {"input": 0.5}, "int64[]"),
        ("bucketize", "int64[] float32[3]", {"right": True}, "int64[]"),
        ("bucketize_number", "int8[3]", {"input": 2.5, "out_int32": True}, "int32[]"),
        ("isin", "float16[2,3] int8[]", {"invert": True}, "bool[2,3]"),
        ("isin_number", "int8[]", {"test_element": 1.5, "assume_unique": True}, "bool[]"),
        ("number_isin", "uint8[0]", {"element": 3}, "bool[]"),
    ],
)
def test_corners(op: str, types: str, given: dict[str, Attr], expected: str) -> None:
    attrs, count = attrs_of(op, **given), len(expected.split())
    assert inferred(op, types_of(types), attrs) == expected
    for form in [
        Form.PLAIN,
        *(form for form in TABLE[op].forms if TABLE[op].expresses(form, types_of(types), attrs)),
    ]:
        assert in_torch(op, types_of(types), attrs, form, count) == expected, form


@pytest.mark.parametrize(
    ("op", "args", "form", "given", "text"),
    [
        ("sort", "a", Form.PLAIN, {"stable": True}, "torch.sort(a, stable=True)"),
        ("sort_stable", "a", Form.PLAIN, {"dim": 0}, "torch.sort(a, stable=True, dim=0)"),
        ("sort_values", "a", Form.FUNCTION, {"descending": True}, "torch.sort(a, descending=True)[0]"),
        ("argsort", "a", Form.METHOD, {}, "a.argsort(-1, False)"),
        ("topk", "a", Form.PLAIN, {"k": 2, "largest": False}, "torch.topk(a, 2, largest=False)"),
        ("topk_values", "a", Form.METHOD, {"k": 2}, "a.topk(2, -1, True, True).values"),
        ("median_dim", "a", Form.METHOD, {"dim": 1}, "a.median(1, False)"),
        ("cummax_values", "a", Form.PLAIN, {"dim": 1}, "torch.cummax(a, dim=1).values"),
        (
            "searchsorted",
            "ab",
            Form.FUNCTION,
            {"side": "right"},
            "torch.searchsorted(a, b, sorter=torch.argsort(a), side='right')",
        ),
        ("bucketize_number", "a", Form.PLAIN, {"input": 2}, "torch.bucketize(2, torch.sort(a).values)"),
        ("number_isin", "a", Form.PLAIN, {"element": 2, "invert": True}, "torch.isin(2, a, invert=True)"),
    ],
)
def test_source_texts_of_forms(op: str, args: str, form: Form, given: dict[str, Attr], text: str) -> None:
    assert TABLE[op].expresses(form, types_of("float32[2,3] " * len(args)), attrs_of(op, **given))
    assert TABLE[op].render(tuple(args), attrs_of(op, **given), form) == text


def test_the_unstable_rows() -> None:
    ranked = {"sort", "argsort", "topk", "kthvalue", "median_dim", "nanmedian_dim", "cummax", "cummin"}
    assert set(UNSTABLE) == ranked


@pytest.mark.parametrize("name", UNSTABLE)
@pytest.mark.parametrize("profile", Profile)
def test_operators_that_rank_read_numbers_without_ties(name: str, profile: Profile) -> None:
    """Along the dim of the call, for every dtype and layout."""
    axes = set()
    for index in range(60):
        builder = Builder(NumpySource(2, index), Limits(max_numel=512), profile)
        if not builder.grow(TABLE[name]):
            continue
        case, node = with_values(builder), builder.nodes[-1]
        array = case.tensors[node.args[0]]
        if array.ndim:
            axis = int(str(node.attrs["dim"])) % array.ndim
            differences = np.diff(np.sort(array.astype(np.float64), axis), axis=axis)
            assert np.all(differences > 0)
            axes.add((axis, array.ndim))
    assert {(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)} <= axes


def test_numbers_without_ties_can_be_held_by_their_dtype() -> None:
    for index in range(300):
        builder = Builder(NumpySource(3, index))
        value = without_ties(builder)
        domain = builder.inputs[-1].domain
        if not value.type.rank:
            continue
        low, high = {"float16": (-2048, 2048), "bfloat16": (-256, 256), "int8": (-128, 127), "uint8": (0, 255)}.get(
            value.type.dtype, (-(2**15), 2**15 - 1)
        )
        assert domain.bounds is Bounds.DISTINCT
        assert domain.axis == ranked_axis(value.type)
        assert low <= domain.low <= 0 <= domain.high <= high
        assert domain.high >= value.type.sizes[domain.axis] - 1


def test_unsorted_results_have_at_most_one_number() -> None:
    unsorted = 0
    for index in range(200):
        builder = Builder(NumpySource(4, index))
        if builder.grow(TABLE["topk_values"]) and not builder.nodes[-1].attrs["sorted"]:
            assert builder.nodes[-1].attrs["k"] in (0, 1)
            unsorted += 1
    assert unsorted > 20


@pytest.mark.parametrize("op", ["searchsorted_number", "bucketize_number"])
def test_no_negative_number_is_searched_in_uint8(op: str) -> None:
    """Eager PyTorch converts the number to uint8 first (-2 becomes 254), and compilers do not."""
    numbers = [TABLE[op].attrs(NumpySource(seed), types_of("uint8[3]")) for seed in range(40)]
    assert 0 <= min(attrs["input"] for attrs in numbers) <= 0.5
    numbers = [TABLE[op].attrs(NumpySource(seed), types_of("int8[3]")) for seed in range(40)]
    assert min(attrs["input"] for attrs in numbers) < 0
