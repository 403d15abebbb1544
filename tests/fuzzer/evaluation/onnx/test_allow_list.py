"""What a sweep proposes for the list of operators that TVM's own test runs."""

from __future__ import annotations

import pytest

from fuzzer.evaluation.allow_list import AllowList
from fuzzer.evaluation.onnx.allow_list import INCLUDED, WHERE, compared, selects
from fuzzer.evaluation.status import Status

RIGHT, WRONG = Status.SUPPORTED, Status.WRONG


@pytest.mark.parametrize(
    ("test", "is_selected"),
    [
        ("test_add", True),
        ("test_add_bcast", True),
        ("test_adder", False),
        ("test_clip_default_expanded", True),
        ("test_reduce_sum", False),
        ("add", False),
    ],
)
def test_a_prefix_selects_whole_words(test: str, is_selected: bool) -> None:
    assert selects(INCLUDED, test) is is_selected


def test_what_the_list_lacks() -> None:
    statuses = {
        "Add-14/test_add": RIGHT,
        "Clip-13/test_clip": WRONG,
        "Elu-22/test_elu": RIGHT,
        "Elu-22-expanded/test_elu_expanded": RIGHT,
        "Pow-15/test_pow": RIGHT,
        "Pow-15/test_pow_types": WRONG,
        "ReduceSum-13/test_reduce_sum_a": RIGHT,
        "ReduceSum-13/test_reduce_sum_b": RIGHT,
        "ReduceMax-13/test_reduce_max_a": None,
    }
    assert compared(statuses) == AllowList(
        where=WHERE,
        selected=["test_add", "test_clip"],
        failing=["test_clip"],
        lacking=["elu", "reduce_sum"],
        ready=["Elu", "ReduceSum"],
        others=["test_pow"],
        outside=["test_elu", "test_elu_expanded", "test_pow", "test_reduce_sum_a", "test_reduce_sum_b"],
    )


def test_a_prefix_that_selects_another_operators_failing_test_is_not_proposed() -> None:
    statuses = {"ReduceSum-13/test_reduce_sum_a": RIGHT, "ReduceSumSquare-18/test_reduce_sum_square_a": WRONG}
    found = compared(statuses)
    assert (found.lacking, found.others) == (["reduce_sum_a"], [])
    statuses["ReduceSum-13/test_reduce_sum_b"] = RIGHT
    found = compared(statuses)
    assert (found.lacking, found.others) == ([], ["test_reduce_sum_a", "test_reduce_sum_b"])
