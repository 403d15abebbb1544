"""What is changed about a reduced case, one thing at a time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from graphs_by_hand import case_of

from fuzzer.triage.scope.variations import variations
from generators.choice import NumpySource
from generators.domain import NONZERO, Domain, index, within
from generators.graph import DRAWN, Case, DType
from generators.values import plain


def values(case: Case, *, with_numbers: bool = False) -> dict[str, list[str]]:
    """The values that are tried, by what is changed."""
    found = defaultdict(list)
    for each in variations(NumpySource(0), case, with_numbers=with_numbers):
        found[each.what].append(each.value)
    return dict(found)


FLOATS = ["float32", "float64", "float16", "bfloat16"]


def test_one_call_of_one_operand() -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "selu", "x0")], "v0")
    assert values(case) == {
        "dtype of x0": FLOATS,
        "rank of x0": ["0", "1", "2", "3", "4", "5"],
        "size of dimension 0": ["0", "1", "2", "7", "17", "64"],
        "size of dimension 1": ["0", "1", "2", "7", "17", "64"],
        "role of x0": ["input", "parameter"],
        "layout of x0": ["contiguous", "transposed", "strided"],
    }


def test_operands_are_varied_together_and_alone() -> None:
    found = values(case_of({"x0": "float32[2]", "x1": "float32[2]"}, [("v0", "add", "x0 x1")], "v0"))
    every = [dtype.value for dtype in DRAWN]
    assert [found[f"dtype of {names}"] for names in ("x0 and x1", "x0", "x1")] == [every, every, every]
    assert found["alpha"][0] == "1"


def test_numbers_are_varied_where_they_matter() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    assert "numbers of x0" not in values(case)
    assert values(case, with_numbers=True)["numbers of x0"] == [
        *("zeros", "positive", "negative", "NaN", "infinite", "fractions")
    ]


def with_domain(case: Case, name: str, domain: Domain) -> Case:
    inputs = tuple(replace(item, domain=domain) if item.value.name == name else item for item in case.graph.inputs)
    tensors = {item.value.name: plain(item) for item in inputs}
    return replace(case, graph=replace(case.graph, inputs=inputs), tensors=tensors)


LOG = with_domain(case_of({"x0": "float32[2]"}, [("v0", "log", "x0")], "v0"), "x0", within(1, 9))


def test_bounds_on_floats_hold_for_all_floats() -> None:
    assert values(LOG)["dtype of x0"] == FLOATS


def test_operands_are_varied_together_where_all_of_them_may_have_the_dtype() -> None:
    case = case_of({"x0": "float32[2]", "x1": "float32[2]"}, [("v0", "sub", "x0 x1")], "v0")
    found = values(with_domain(case, "x1", NONZERO))
    assert found["dtype of x0 and x1"] == found["dtype of x1"] == FLOATS
    assert found["dtype of x0"] == [dtype.value for dtype in DRAWN if dtype is not DType.BOOL]


def test_bounds_on_indices_hold_for_their_dtype_only() -> None:
    case = case_of({"x0": "float32[4]", "x1": "int64[2]"}, [("v0", "take", "x0 x1")], "v0")
    found = values(with_domain(case, "x1", index(4)))
    assert "dtype of x1" not in found
    assert found["dtype of x0"] == [dtype.value for dtype in DRAWN]


def test_the_numbers_of_each_variation_are_in_their_domain() -> None:
    for each in variations(NumpySource(0), LOG, with_numbers=False):
        assert (each.case.tensors["x0"].astype("float64") >= 1).all()


def test_without_numbers_none_is_zero() -> None:
    """A zero can hide a wrong result: x0 - 0 is right without the factor of x1."""
    case = case_of({"x0": "float32[1]", "x1": "float32[1]"}, [("v0", "sub", "x0 x1")], "v0")
    for each in variations(NumpySource(0), case, with_numbers=False):
        for item in each.case.graph.inputs:
            if item.value.type.dtype is not DType.BOOL:
                assert each.case.tensors[item.value.name].astype("float64").all(), (each.what, each.value)


def test_where_numbers_matter_floats_of_another_precision_have_the_same() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0", lambda item: np.array([np.nan, 1.5], "float32"))
    found = {
        each.value: each.case.tensors["x0"].astype("float64").tolist()
        for each in variations(NumpySource(0), case, with_numbers=True)
        if each.what == "dtype of x0" and each.value in FLOATS
    }
    assert list(found) == FLOATS
    assert all(np.isnan(first) and second == 1.5 for first, second in found.values())


def test_where_numbers_matter_special_ones_stay_in_every_shape() -> None:
    case = case_of(
        {"x0": "float32[3]"}, [("v0", "relu", "x0")], "v0", lambda item: np.array([1.5, 2, np.nan], "float32")
    )
    rows = [each for each in variations(NumpySource(0), case, with_numbers=True) if each.what in ("rank of x0", "size")]
    assert len(rows) == 12
    assert all(np.isnan(each.case.tensors["x0"]).any() for each in rows if each.value != "0" or each.what != "size")


def test_the_rows_of_several_inputs_name_them() -> None:
    found = values(case_of({"x0": "float32[2]", "x1": "float32[2]"}, [("v0", "add", "x0 x1")], "v0"))
    assert found["size of x0"] == ["0", "1", "2", "7", "17", "64"]
