"""The plainest statements that fit what was observed."""

from __future__ import annotations

import pytest

from fuzzer.triage.scope.conditions import necessary
from fuzzer.triage.scope.hypotheses import cost, statements
from fuzzer.triage.scope.statement import Condition, Properties, Property, Relation
from generators.graph import Scalar

DTYPE, RANK, DIM, SIZE = (
    Property(0, subject, what)
    for subject, what in (("operand 0", "dtype"), ("operand 0", "rank"), ("dim", "value"), ("operand 0", "size -1"))
)
IN, NOT_IN, LEAST, MOST = Relation.IN, Relation.NOT_IN, Relation.AT_LEAST, Relation.AT_MOST


def cases(key: Property, *values: Scalar) -> list[Properties]:
    return [{key: value} for value in values]


def plainest(fails: list[Properties], passes: list[Properties]) -> list[Condition]:
    return list(statements(fails, passes)[0].conditions)


@pytest.mark.parametrize(
    ("fails", "passes", "condition"),
    [
        (["float16"], ["float32", "int64"], Condition(DTYPE, IN, ("float16",))),
        (["bfloat16", "float16"], ["float32", "int64"], Condition(DTYPE, IN, ("bfloat16", "float16"))),
        (["int8", "int16", "int32", "int64", "bool"], ["float32"], Condition(DTYPE, NOT_IN, ("float32",))),
    ],
)
def test_names(fails: list[Scalar], passes: list[Scalar], condition: Condition) -> None:
    assert plainest(cases(DTYPE, *fails), cases(DTYPE, *passes)) == [condition]


@pytest.mark.parametrize(
    ("fails", "passes", "condition"),
    [
        ([0], [1, 2, 3], Condition(SIZE, IN, (0,))),
        ([17, 20, 64], [1, 16], Condition(SIZE, LEAST, (17,))),
        ([-1, -3], [0, 1], Condition(SIZE, MOST, (-1,))),
        ([1, 5, 9, 13], [0, 2, 3, 4, 8, 11, 15], Condition(SIZE, Relation.REMAINDER, (4, 1))),
    ],
)
def test_numbers(fails: list[Scalar], passes: list[Scalar], condition: Condition) -> None:
    assert plainest(cases(SIZE, *fails), cases(SIZE, *passes)) == [condition]


def test_a_bound_between_two_observations_is_tried_at_both_ends() -> None:
    """So that the next question is about a number between them."""
    found = set(necessary(cases(SIZE, 17, 20), cases(SIZE, 4)))
    assert {Condition(SIZE, LEAST, (17,)), Condition(SIZE, LEAST, (5,))} <= found


def test_two_conditions_that_only_fit_together() -> None:
    fails: list[Properties] = [{DTYPE: "bool", DIM: -1, RANK: 2}, {DTYPE: "bool", DIM: -2, RANK: 3}]
    passes: list[Properties] = [{DTYPE: "bool", DIM: 0, RANK: 2}, {DTYPE: "int8", DIM: -1, RANK: 3}]
    assert set(plainest(fails, passes)) == {Condition(DIM, MOST, (-1,)), Condition(DTYPE, IN, ("bool",))}


def test_three_conditions() -> None:
    fails: list[Properties] = [{DTYPE: "bool", DIM: -1, RANK: 2}]
    passes: list[Properties] = [
        {DTYPE: "int8", DIM: -1, RANK: 2},
        {DTYPE: "bool", DIM: 0, RANK: 2},
        {DTYPE: "bool", DIM: -1, RANK: 3},
    ]
    assert {condition.property for condition in plainest(fails, passes)} == {DTYPE, DIM, RANK}


def test_an_operand_that_is_not_there() -> None:
    second = Property(0, "operand 1", "dtype")
    fails: list[Properties] = [{DTYPE: "bool"}]
    passes: list[Properties] = [{DTYPE: "bool", second: "bool"}]
    assert plainest(fails, passes) == [Condition(second, Relation.ABSENT)]


def test_a_property_that_some_failing_case_lacks_is_not_necessary() -> None:
    fails: list[Properties] = [{DTYPE: "bool", DIM: -1}, {DTYPE: "bool"}]
    passes: list[Properties] = [{DTYPE: "int8", DIM: 0}]
    assert plainest(fails, passes) == [Condition(DTYPE, IN, ("bool",))]


def test_where_everything_fails_there_is_no_condition() -> None:
    assert plainest(cases(DTYPE, "bool", "int8"), []) == []


def test_where_nothing_distinguishes_the_cases_there_is_no_statement() -> None:
    assert statements(cases(DTYPE, "bool"), cases(DTYPE, "bool")) == []


def test_a_property_of_an_operand_is_plainer_than_one_of_a_result() -> None:
    of_result = Condition(Property(0, "result 0", "dtype"), IN, ("bool",))
    assert cost(Condition(DTYPE, IN, ("bool",))) < cost(of_result)
    assert cost(Condition(SIZE, LEAST, (2,))) < cost(Condition(SIZE, IN, (2, 3)))
