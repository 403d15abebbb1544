"""When a condition holds, and when a scope is certain."""

from __future__ import annotations

import pytest

from fuzzer.triage.scope.statement import Answer, Condition, Hits, Property, Relation, Scope, Statement
from generators.graph import Scalar

KEY = Property(0, "operand 0", "rank")
OTHER = Property(0, "dim", "value")


@pytest.mark.parametrize(
    ("relation", "values", "holding", "failing"),
    [
        (Relation.IN, (1, 2), [1, 2], [0, 3, True, 1.0, "1", None]),
        (Relation.IN, (None,), [None], [0, False]),
        (Relation.NOT_IN, (1,), [0, True, 1.0, None], [1]),
        (Relation.AT_LEAST, (2,), [2, 3, 2.5], [1, -2, "3", None, True]),
        (Relation.AT_MOST, (-1,), [-1, -2.0], [0, "a", None, False]),
        (Relation.REMAINDER, (4, 1), [1, 5, -3], [0, 2, 4, 1.0, True]),
        (Relation.ABSENT, (), [], [0, None, ""]),
    ],
)
def test_a_condition_holds_for_these_values(
    relation: Relation, values: tuple[Scalar, ...], holding: list[Scalar], failing: list[Scalar]
) -> None:
    condition = Condition(KEY, relation, values)
    assert [value for value in (*holding, *failing) if condition.holds({KEY: value})] == holding
    assert condition.holds({OTHER: 1}) is (relation is Relation.ABSENT)


def test_a_statement_holds_where_all_conditions_hold() -> None:
    both = Statement((Condition(KEY, Relation.IN, (1,)), Condition(OTHER, Relation.AT_MOST, (-1,))))
    assert both.holds({KEY: 1, OTHER: -1})
    assert not both.holds({KEY: 1, OTHER: 0})
    assert not both.holds({KEY: 2, OTHER: -1})
    assert Statement().holds({})


ONE = Statement((Condition(KEY, Relation.IN, (1,)),))


@pytest.mark.parametrize(
    ("scope", "certain"),
    [
        (Scope(ONE, Hits(20, 20), Hits(20, 20)), True),
        (Scope(ONE, Hits(8, 8), Hits(8, 8)), True),
        (Scope(ONE, Hits(7, 7), Hits(20, 20)), False),
        (Scope(ONE, Hits(20, 20), Hits(7, 7)), False),
        (Scope(ONE, Hits(19, 20), Hits(20, 20)), False),
        (Scope(ONE, Hits(20, 20), Hits(19, 20)), False),
        (Scope(Statement(), Hits(20, 20), Hits()), True),
        (Scope(None), False),
    ],
)
def test_a_statement_is_certain_where_held_out_cases_on_both_sides_agree(scope: Scope, certain: bool) -> None:
    assert scope.is_certain is certain


def test_only_the_failure_and_its_absence_decide() -> None:
    assert [answer for answer in Answer if answer.decides] == [Answer.FAILS, Answer.PASSES]
