"""Rows of `sort` and `search`."""

from __future__ import annotations

import numpy as np
import pytest
from eager import types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import Bounds
from generators.graph import Attr, Attrs, Form, Profile
from generators.random_graph import with_values
from generators.shared.draws import ranked_axis
from generators.torch.ops import TABLE, sort
from generators.torch.ops.axes import without_ties

UNSTABLE = [op.name for op in sort.OPS if f"{op.name}_values" in TABLE] + ["argsort"]


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


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
