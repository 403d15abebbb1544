"""The definitions of Relax operators by which difftvm evaluates a module."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fuzzer.lanes.evaluated.common import Unknown
from fuzzer.lanes.evaluated.operators import OF_ONE_DTYPE, value_of
from fuzzer.lanes.evaluated.ties import TIES, has_ties

NO_ATTRS = SimpleNamespace()
FALSE, FLOATS = torch.tensor(False), torch.tensor([-2.5])


@pytest.mark.parametrize("name", OF_ONE_DTYPE)
def test_arithmetic_with_operands_of_two_dtypes_is_not_defined(name: str) -> None:
    with pytest.raises(Unknown, match="operands of two dtypes"):
        value_of(name, NO_ATTRS, (FALSE, FLOATS))


def test_a_comparison_may_have_operands_of_two_dtypes() -> None:
    assert value_of("less", NO_ATTRS, (FLOATS, torch.tensor([1]))).tolist() == [True]
    assert value_of("equal", NO_ATTRS, (FLOATS, FLOATS)).tolist() == [True]


def test_floats_are_divided_before_they_are_rounded_down() -> None:
    one, tenth = torch.tensor([1.0]), torch.tensor([0.1])
    assert value_of("floor_divide", NO_ATTRS, (one, tenth)).tolist() == [10.0]
    assert torch.floor_divide(one, tenth).tolist() == [9.0]
    assert value_of("floor_divide", NO_ATTRS, (torch.tensor([-7]), torch.tensor([2]))).tolist() == [-4]


ROWS = torch.tensor([[1.0, 3.0, 2.0], [3.0, 2.0, 1.0]])
"""No row has equal elements; the tensor has, and so has none of the columns."""


@pytest.mark.parametrize("name", TIES)
def test_only_equal_elements_along_the_axis_are_ties(name: str) -> None:
    def attrs(axis: int | None) -> Any:
        return SimpleNamespace(axis=axis, k=2, largest=True, ret_type="both", descending=False)

    assert not has_ties(name, attrs(1), (ROWS,))
    assert not has_ties(name, attrs(-2), (ROWS,))
    assert has_ties(name, attrs(0), (torch.tensor([[1.0, 3.0], [1.0, 2.0]]),))
    assert not has_ties(name, attrs(-1), (torch.tensor(1.0),))


def test_an_index_among_all_elements_looks_at_all_elements() -> None:
    attrs = SimpleNamespace(axis=None)
    assert has_ties("argmax", attrs, (ROWS,))
    assert has_ties("argmin", attrs, (ROWS,))
    assert not has_ties("argmax", attrs, (torch.tensor([1, 1, 2]),)), "only the largest element counts"


@pytest.mark.parametrize(
    ("k", "ret_type", "ties"), [(1, "both", False), (2, "indices", True), (2, "values", False), (0, "both", True)]
)
def test_the_first_elements_have_a_tie_where_another_element_could_take_their_place(
    k: int, ret_type: str, ties: bool
) -> None:
    attrs = SimpleNamespace(axis=0, k=k, largest=True, ret_type=ret_type)
    assert has_ties("topk", attrs, (torch.tensor([1.0, 2.0, 3.0, 2.0]),)) is ties


def test_other_operators_have_no_ties() -> None:
    assert not has_ties("add", NO_ATTRS, (FLOATS, FLOATS))
