"""Statements as phrases."""

from __future__ import annotations

import pytest
from graphs_by_hand import case_of
from triggers import AT_LEAST, AT_MOST, BOTH, IN, NOT_IN, TRIGGERS, X, when

from fuzzer.triage.scope.statement import Answer, Condition, Hits, Property, Relation, Scope, Statement, Variation
from fuzzer.triage.scope.words import listed, phrase, sentence, with_names_of

ADD = case_of({"x0": "float32[2]", "w0": "float32[2]"}, [("v0", "add", "x0 w0")], "v0").graph
CHAIN = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "cumsum", "v0", {"dim": 0})], "v1").graph


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (when(X, "dtype", IN, "float16"), "where x0 is float16"),
        (when(X, "dtype", IN, "bfloat16", "float16", "float64"), "where x0 is bfloat16, float16 or float64"),
        (when(X, "dtype", IN, "bfloat16", "float16", "float32", "float64"), "where x0 is of floats"),
        (when(X, "dtype", IN, "int16", "int32", "int64", "int8", "uint8"), "where x0 is of integers"),
        (when(X, "dtype", NOT_IN, "float32"), "where x0 is not float32"),
        (when("operand 1", "rank", IN, 0), "where the rank of w0 is 0"),
        (
            when(X, "size -1", Relation.REMAINDER, 4, 1),
            "where the size of the last dimension of x0 leaves 1 when divided by 4",
        ),
        (when(X, "size 2", AT_LEAST, 17), "where the size of dimension 2 of x0 is at least 17"),
        (when(X, "elements", IN, 0), "where x0 is empty"),
        (when("dim", "value", AT_MOST, -1), "where `dim` is negative"),
        (when("stride", "value", IN, None), "where `stride` is None"),
        (when("alpha", "value", NOT_IN, 1), "where `alpha` is not 1"),
        (when("groups", "value", AT_LEAST, 1), "where `groups` is positive"),
        (when(BOTH, "same dtype", IN, False), "where x0 and w0 have different dtypes"),
        (when("operand 1", "constant", IN, True), "where w0 is a parameter"),
        (
            when("result 0", "dtype of operand 0", IN, False),
            "where the result has another dtype than the first operand",
        ),
        (when(X, "negative numbers", IN, "all"), "where all of the numbers of x0 are negative"),
        (when(X, "NaN", NOT_IN, "none"), "where one or more of the numbers of x0 are NaN"),
        (when("output_size", "an item is None", IN, True), "where `output_size` has the item None"),
        (when("operand 2", "dtype", Relation.ABSENT), "where the third operand is left out"),
        (
            when("dims", "length beyond the rank", Relation.AT_MOST, 0),
            "where `dims` has no more items than x0 has dimensions",
        ),
        (when("call", "operands", IN, 3), "where the number of operands of the call is 3"),
    ],
)
def test_a_condition(condition: Condition, text: str) -> None:
    assert phrase(Statement((condition,)), ADD) == text


def test_several_conditions_and_none() -> None:
    both = Statement((when("alpha", "value", NOT_IN, 1), when(X, "rank", IN, 0)))
    assert phrase(both, ADD) == "where `alpha` is not 1 and the rank of x0 is 0"
    assert phrase(Statement(), ADD) == "in every case that was tried"


def test_an_attribute_of_one_of_several_calls() -> None:
    condition = Condition(Property(1, "dim", "value"), AT_MOST, (-1,))
    assert phrase(Statement((condition,)), CHAIN) == "where `dim` of `cumsum` is negative"


@pytest.mark.parametrize("trigger", TRIGGERS, ids=str)
def test_every_planted_trigger_has_words(trigger: object) -> None:
    statement = trigger.statement  # type: ignore[attr-defined]
    assert phrase(statement, ADD).startswith("where ")


def test_the_sentence_says_how_many_cases_agree() -> None:
    statement = Statement((when(X, "rank", IN, 0),))
    scope = Scope(statement, Hits(20, 20), Hits(18, 19), cases=60)
    assert sentence(scope, ADD) == "It fails where the rank of x0 is 0 (38 of 39 held-out cases agree)."
    unconfirmed = "Perhaps it fails where the rank of x0 is 0 (no other case could confirm it)."
    assert sentence(Scope(statement, cases=60), ADD) == unconfirmed
    assert sentence(Scope(cases=60), ADD) == "No simple condition says when it fails."
    assert sentence(Scope(), ADD) == ""
    fails = Variation("dtype of x0", "float32", Answer.FAILS), Variation("dtype of x0", "bfloat16", Answer.OTHER)
    nothing = "No simple condition says when it passes: nothing in the table does."
    assert sentence(Scope(variations=fails, cases=72), ADD) == nothing
    rows = [("NaN", Answer.FAILS), ("infinite", Answer.FAILS), ("zeros", Answer.PASSES), ("positive", Answer.PASSES)]
    table = tuple(Variation("numbers of x0", value, answer) for value, answer in rows)
    condition = "In the table it fails where x0 is NaN or infinite; no simple condition fits all other cases."
    assert sentence(Scope(variations=table, cases=60), ADD) == condition


@pytest.mark.parametrize(("words", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_a_list_of_words(words: list[str], text: str) -> None:
    assert listed(words) == text


def test_rows_get_the_names_of_another_graph_of_the_same_calls() -> None:
    """In the reduced case x1 is the first operand, in the case that a report shows it is x0."""
    types = {"x0": "float32[2]", "x1": "float32[2]"}
    reduced, shown = (case_of(types, [("v0", "sub", names)], "v0").graph for names in ("x1 x0", "x0 x1"))
    rows = ("dtype of x0 and x1", "dtype of x0", "size of dimension 0 of x1", "size of dimension 0", "alpha")
    scope = Scope(variations=tuple(Variation(row, "1", Answer.FAILS) for row in rows))
    assert [each.what for each in with_names_of(scope, reduced, shown).variations] == [
        *("dtype of x0 and x1", "dtype of x1", "size of dimension 0 of x0", "size of dimension 0", "alpha"),
    ]
    assert with_names_of(scope, reduced, CHAIN) == scope


def test_a_statement_that_few_cases_confirm_is_a_guess() -> None:
    scope = Scope(Statement((when(X, "rank", IN, 0),)), Hits(1, 1), Hits(), cases=60)
    assert sentence(scope, ADD) == "Perhaps it fails where the rank of x0 is 0 (1 of 1 held-out cases agree)."


def test_a_statement_that_no_failing_case_confirms_is_a_guess() -> None:
    scope = Scope(Statement((when(X, "rank", IN, 0),)), Hits(0, 0), Hits(11, 11), cases=60)
    assert sentence(scope, ADD) == "Perhaps it fails where the rank of x0 is 0 (11 of 11 held-out cases agree)."
