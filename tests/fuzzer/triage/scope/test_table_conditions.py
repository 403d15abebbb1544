"""The condition that a table of single changes shows by itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.triage.scope.statement import Answer, Scope, Variation
from fuzzer.triage.scope.table_conditions import (
    CLASSES,
    TableCondition,
    conditions_of_table,
    special_numbers,
    table_in_words,
)
from fuzzer.triage.scope.words import sentence
from generators.graph import Graph

NO_GRAPH = Graph((), (), ())
ROWS: Mapping[str, tuple[str, ...]] = {
    "dtype of x0": ("float32", "float16", "int64"),
    "rank of x0": ("0", "1", "2"),
    "alpha": ("1", "2"),
    "numbers of x0": tuple(CLASSES),
    "numbers of x1": tuple(CLASSES),
}


def table(answers: Mapping[str, Mapping[str, Answer]]) -> tuple[Variation, ...]:
    return tuple(Variation(what, value, answer) for what, by in answers.items() for value, answer in by.items())


def answers_about(what: str) -> st.SearchStrategy[dict[str, Answer]]:
    return st.fixed_dictionaries({value: st.sampled_from(list(Answer)) for value in ROWS[what]})


@pytest.mark.slow
@given(st.fixed_dictionaries({}, optional={what: answers_about(what) for what in ROWS}))
def test_each_table_that_tells_failing_values_from_passing_ones_gives_that_condition(
    answers: dict[str, dict[str, Answer]],
) -> None:
    variations = table(answers)
    wanted = []
    for what, by in answers.items():
        failing = tuple(value for value, answer in by.items() if answer is Answer.FAILS)
        passing = tuple(value for value, answer in by.items() if answer is Answer.PASSES)
        if failing and len(passing) >= (2 if what.startswith("numbers") else 1):
            wanted.append(TableCondition(what, failing, passing))
    assert conditions_of_table(variations) == tuple(wanted)
    text = sentence(Scope(variations=variations, cases=60), NO_GRAPH)
    if 0 < len(wanted) <= 3:
        assert all(each.words in text for each in wanted)
        assert "No simple condition says" not in text
    else:
        given = {answer for row in answers.values() for answer in row.values()}
        passes = Answer.FAILS not in given or Answer.PASSES in given
        nothing = "No simple condition says when it passes: nothing in the table does."
        assert text == ("No simple condition says when it fails." if passes else nothing)


@pytest.mark.parametrize("special", [("NaN",), ("infinite",), ("NaN", "infinite")])
@pytest.mark.parametrize("other", list(Answer))
def test_special_numbers_alone(special: tuple[str, ...], other: Answer) -> None:
    """Another input, whose numbers do not matter, changes nothing."""
    fails = {value: Answer.FAILS if value in special else Answer.PASSES for value in CLASSES}
    changed = table({"numbers of x0": fails, "numbers of x1": dict.fromkeys(CLASSES, other)})
    assert special_numbers(Scope(variations=changed)) == f"x0 is {' or '.join(special)}"


def test_words() -> None:
    variations = table(
        {
            "rank of x0": {"0": Answer.FAILS, "1": Answer.PASSES},
            "alpha": {"1": Answer.PASSES, "2": Answer.FAILS, "3": Answer.FAILS},
            "numbers of x0": {"zeros": Answer.PASSES, "negative": Answer.FAILS, "positive": Answer.PASSES},
        }
    )
    assert table_in_words(variations) == "the rank of x0 is 0 and alpha is 2 or 3 and x0 is negative"
    assert table_in_words(variations, most=2) == "alpha is 2 or 3 and x0 is negative"


def test_a_value_that_fails_and_passes_tells_nothing() -> None:
    rows = (Variation("alpha", "1", Answer.FAILS), Variation("alpha", "1", Answer.PASSES))
    assert conditions_of_table(rows) == ()


def test_where_one_value_passes_it_is_named() -> None:
    answers = {"0": Answer.PASSES, "1": Answer.FAILS, "2": Answer.FAILS, "7": Answer.FAILS}
    assert table_in_words(table({"size": answers})) == "size is not 0"


def test_operands_are_counted() -> None:
    rows = table({"operands": {"1": Answer.PASSES, "2": Answer.PASSES, "3": Answer.FAILS, "4": Answer.FAILS}})
    assert table_in_words(rows) == "the number of operands is 3 or 4"


def test_texts_stand_without_quotes() -> None:
    rows = table({"auto_pad": {"'SAME_LOWER'": Answer.FAILS, "'SAME_UPPER'": Answer.FAILS, "left out": Answer.PASSES}})
    assert table_in_words(rows) == "auto_pad is SAME_LOWER or SAME_UPPER"
