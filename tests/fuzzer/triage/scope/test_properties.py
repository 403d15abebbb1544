"""The properties of a case, each with its value."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Property
from generators.graph import Case, Scalar


def of(case: Case, subject: str, call: int = 0) -> dict[str, Scalar]:
    return {key.what: value for key, value in properties(case).items() if (key.call, key.subject) == (call, subject)}


SUM = case_of({"x0": "float32[2,0,5]"}, [("v0", "cumsum", "x0", {"dim": 2})], "v0")


def test_an_operand() -> None:
    assert of(SUM, "operand 0") == {
        "dtype": "float32",
        "rank": 3,
        "elements": 0,
        "size 0": 2,
        "size 1": 0,
        "size 2": 5,
        "size -1": 5,
        "size -2": 0,
        "size -3": 2,
        "smallest size": 0,
        "largest size": 5,
        "constant": False,
        "layout": "contiguous",
        "negative numbers": "none",
        "zeros": "none",
        "NaN": "none",
        "infinities": "none",
        "fractions": "none",
    }


def test_attributes_results_and_the_call() -> None:
    assert of(SUM, "dim") == {"value": 2, "from the end": -1}
    assert of(SUM, "dtype") == {"value": None}
    assert of(SUM, "result 0") == {"dtype": "float32", "rank": 3, "elements": 0, "dtype of operand 0": True}
    assert of(SUM, "call") == {"form": "plain", "operands": 1}


def test_two_operands() -> None:
    case = case_of({"x0": "float32[2]", "w0": "int64[2]"}, [("v0", "add", "x0 w0")], "v0")
    assert of(case, "operands 0 and 1") == {"same dtype": False, "same rank": True, "same shape": True}
    assert of(case, "operand 1")["constant"] is True


def test_a_list() -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (1, 0)})], "v0")
    assert of(case, "dims") == {
        "length": 2,
        "length beyond the rank": 0,
        "different items": True,
        "an item is None": False,
        "item 0": 1,
        "item 1": 0,
        "smallest item": 0,
        "largest item": 1,
    }


def test_an_item_of_a_list_is_none() -> None:
    call = ("v0", "adaptive_avg_pool2d", "x0", {"output_size": (None, 1)})
    assert of(case_of({"x0": "float32[1,2,3]"}, [call], "v0"), "output_size")["an item is None"] is True


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1.0, 2.0], ("none", "none", "none", "none", "none")),
        ([-1.5, 2.0], ("some", "none", "none", "none", "some")),
        ([-1.0, -2.0], ("all", "none", "none", "none", "none")),
        ([0.0, -0.0], ("none", "all", "none", "none", "none")),
        ([np.nan, -np.inf], ("some", "none", "some", "some", "none")),
    ],
)
def test_the_numbers_of_an_input(numbers: list[float], expected: tuple[str, ...]) -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    found = of(Case(case.graph, {"x0": np.array(numbers, np.float32)}), "operand 0")
    assert tuple(found[what] for what in ("negative numbers", "zeros", "NaN", "infinities", "fractions")) == expected


def test_a_value_that_another_call_computes_has_no_numbers() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "abs", "v0")], "v1")
    assert {"dtype", "rank", "size 0"} <= of(case, "operand 0", call=1).keys()
    assert not {"zeros", "constant"} & of(case, "operand 0", call=1).keys()


def test_names_are_of_the_place_and_not_of_the_value() -> None:
    """Cases of the same calls have the same properties, whatever their values are called."""
    one = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    other = case_of({"x5": "float32[2]"}, [("v3", "neg", "x5")], "v3")
    assert properties(one) == properties(other)
    assert Property(0, "operand 0", "dtype") in properties(one)
