"""Calls with fewer and with more operands."""

from __future__ import annotations

import pytest
from graphs_by_hand import case_of

from fuzzer.triage.scope.operand_count import with_operands_left_out_and_added
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case

CONV = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
INPUTS = {"x0": "float32[1,2,5,5]", "x1": "float32[3,2,3,3]", "x2": "float32[3]"}


def found(case: Case) -> dict[int, list[str]]:
    cases = dict(with_operands_left_out_and_added(NumpySource(0), case))
    for each in cases.values():
        check(each)
    return {number: [str(item.value.type) for item in each.graph.inputs] for number, each in cases.items()}


def convolution(names: str) -> Case:
    return case_of({name: INPUTS[name] for name in names.split()}, [("v0", "conv2d", names, CONV)], "v0")


@pytest.mark.parametrize("names", ["x0 x1", "x0 x1 x2"])
def test_a_bias_is_left_out_and_added(names: str) -> None:
    assert found(convolution(names)) == {2: list(INPUTS.values())[:2], 3: list(INPUTS.values())}


def test_at_most_two_operands_are_added() -> None:
    one = ["float32[2]"]
    case = case_of({"x0": "float32[2]"}, [("v0", "cat", "x0", {"dim": 0})], "v0")
    assert found(case) == {1: one, 2: one * 2, 3: one * 3}


def test_one_number_of_operands_is_no_choice() -> None:
    assert found(case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")) == {}
    assert found(case_of({"x0": "float32[2]"}, [("v0", "cat", "x0 x0", {"dim": 0})], "v0")) == {}
