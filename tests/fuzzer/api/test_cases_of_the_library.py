"""The cases that the library gives to loops and to Hypothesis."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import difftvm
import difftvm.strategies
from generators import case_file
from generators.check import check

GUARD = "clamp"


@pytest.mark.slow
@given(case=difftvm.strategies.cases("add,mul,relu", max_ops=3))
@settings(max_examples=60)
def test_hypothesis_gets_valid_cases_of_the_named_operators(case: difftvm.Case) -> None:
    check(case)
    own = [op for op in case.graph.ops if op != GUARD]
    assert 1 <= len(own) <= 3
    assert set(own) <= {"add", "mul", "relu"}


@pytest.mark.slow
def test_hypothesis_shrinks_a_case_to_its_one_guilty_operator() -> None:
    def has_mul(case: difftvm.Case) -> bool:
        return "mul" in case.graph.ops

    smallest = find(difftvm.strategies.cases("add,mul,relu"), has_mul, settings=settings(max_examples=300))
    assert list(smallest.graph.ops) == ["mul"]


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_a_seed_gives_the_same_cases_again(seed: int) -> None:
    once, again = (list(islice(difftvm.cases("softmax,sub", max_ops=2, seed=seed), 3)) for _ in range(2))
    assert list(map(case_file.encode, once)) == list(map(case_file.encode, again))
    for case in once:
        check(case)
        assert {*case.graph.ops} <= {"softmax", "sub", GUARD}


def test_without_a_seed_cases_differ() -> None:
    first, second = (next(difftvm.cases()) for _ in range(2))
    assert case_file.encode(first) != case_file.encode(second)


@pytest.mark.parametrize("give", [difftvm.cases, difftvm.strategies.cases])
def test_bad_arguments_are_refused_at_once(give: object) -> None:
    assert callable(give)
    with pytest.raises(difftvm.Invalid, match="no operator matches 'nonsense'"):
        give("nonsense")
    with pytest.raises(difftvm.Invalid, match="max_ops is 0; a case has at least one operator"):
        give(max_ops=0)
