"""The whole search on planted bugs, without a compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of
from labs import FakeLab
from triggers import TRIGGERS, Trigger

from fuzzer.triage.scope.find import WHOLE_EFFORT, Effort, _with_each_exception_tried, scope_of, tells_enough
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.search import Answers
from fuzzer.triage.scope.statement import NO_SCOPE, Answer, Condition, Property, Relation, Scope, Statement
from fuzzer.triage.scope.words import cut_short_in_words
from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

RAISED = fakes.raised(Stage.COMPILE)
FINDING = Finding(Kind.INTERNAL_ERROR, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED)
WORDS = (
    "relu:",
    "conv2d: operand 0",
    "mul:",
    "cumsum: dim",
    "neg:",
    "exp:",
    "tril:",
    "sqrt:",
    "embedding:",
    "argmax:",
    "round:",
)
SOME = [each for each in TRIGGERS if str(each).startswith(WORDS)]
ROWS = [each if place % 2 == 0 else pytest.param(each, marks=pytest.mark.long) for place, each in enumerate(SOME)]
"""Every second one is in the gate: a search takes half a second."""
NEG = case_of({"x0": "float32[3]"}, [("v0", "neg", "x0")], "v0")


def lab(fails: Callable[[Case], bool], outcome: Outcome = RAISED) -> FakeLab:
    """Runs a case at its own sizes, whether these are open or not."""
    return FakeLab(lambda case, *_: outcome if fails(case.instances()[0]) else None)


def test_there_are_enough_planted_bugs() -> None:
    assert len(TRIGGERS) >= 40
    assert len(SOME) == len(WORDS)


@pytest.mark.slow
@pytest.mark.parametrize("trigger", ROWS, ids=str)
def test_the_trigger_of_a_planted_bug_is_found(trigger: Trigger) -> None:
    case = trigger.first_case()
    scope = scope_of(lab(trigger.fires), case, FINDING)
    assert scope.statement is not None
    assert set(scope.statement.conditions) == set(trigger.conditions)
    assert scope.is_certain
    assert scope.cases <= WHOLE_EFFORT.runs + 1


@pytest.mark.slow
def test_a_bug_that_always_shows() -> None:
    scope = scope_of(lab(lambda case: True), NEG, FINDING)
    assert (scope.statement, scope.is_certain) == (Statement(), True)
    assert {each.answer for each in scope.variations} == {Answer.FAILS}


@pytest.mark.slow
def test_a_case_without_inputs() -> None:
    window = {"window_length": 3, "periodic": True, "dtype": "float32"}
    case = case_of({}, [("v0", "hann_window", "", window)], "v0")
    scope = scope_of(lab(lambda case: case.graph.nodes[0].attrs["periodic"] is True), case, FINDING)
    assert scope.statement is not None
    assert {condition.property.subject for condition in scope.statement.conditions} == {"periodic"}


@pytest.mark.slow
def test_the_table_has_the_reduced_case_and_each_change() -> None:
    scope = scope_of(lab(lambda case: case.graph.inputs[0].value.type.dtype.is_float), NEG, FINDING)
    dtypes = {each.value: each.answer for each in scope.variations if each.what == "dtype of x0"}
    assert {name for name, answer in dtypes.items() if answer is Answer.FAILS} == {
        *("float32", "float64", "float16", "bfloat16")
    }
    assert {name for name, answer in dtypes.items() if answer is Answer.PASSES} == {
        *("int64", "int32", "int16", "int8", "uint8")
    }
    assert [each.value for each in scope.variations if each.what == "rank of x0"] == ["0", "1", "2", "3", "4", "5"]
    assert [each.value for each in scope.variations if each.what == "size"] == ["0", "1", "2", "7", "17", "64"]


@pytest.mark.slow
def test_siblings_and_routes_are_run_too() -> None:
    scope = scope_of(lab(lambda case: case.graph.ops[0] in ("neg", "abs")), NEG, FINDING)
    assert dict(scope.siblings)["abs"] is Answer.FAILS
    assert Answer.PASSES in dict(scope.siblings).values()
    assert "neg" not in dict(scope.siblings)
    assert dict(scope.routes)["from_fx"] is Answer.FAILS


@pytest.mark.slow
def test_a_failure_of_another_kind_does_not_decide() -> None:
    other = fakes.raised(Stage.COMPILE, "OtherError", "something else")

    def outcome(case: Case, *_: object) -> Outcome | None:
        dtype = case.graph.inputs[0].value.type.dtype.value
        return RAISED if dtype == "float32" else other if dtype.startswith("int") else None

    scope = scope_of(FakeLab(outcome), NEG, FINDING)
    assert {each.value for each in scope.variations if each.answer is Answer.OTHER} >= {"int8", "int64"}
    assert scope.statement is not None
    assert scope.statement.holds(properties(NEG))


@pytest.mark.slow
def test_numbers_are_no_condition_where_usual_ones_fail_too() -> None:
    """A wrong value is right by chance where all numbers are zero: that is no condition of the bug."""

    def fails(case: Case) -> bool:
        return bool(case.graph.inputs[0].value.type.rank == 1 and case.tensors["x0"].any())

    scope = scope_of(lab(fails), NEG, FINDING)
    assert scope.statement is not None
    sizes = {"rank", "elements", "smallest size", "size 0", "size -1"}  # an empty tensor has no number to be wrong
    assert {condition.property.what for condition in scope.statement.conditions} <= sizes


@pytest.mark.slow
def test_what_all_usual_numbers_are_is_no_condition() -> None:
    """They are fractions where they are floats. Yet the bug needs floats and an element."""

    def fails(case: Case) -> bool:
        type = case.graph.inputs[0].value.type
        return type.dtype.is_float and type.numel > 0

    scope = scope_of(lab(fails), NEG, FINDING)
    assert scope.is_certain
    assert scope.statement is not None
    whats = {condition.property.what for condition in scope.statement.conditions}
    assert "dtype" in whats
    assert whats <= {"dtype", "elements", "smallest size"}


def test_one_number_alone_does_not_count_for_a_wrong_value() -> None:
    """It is right by chance: each wrong value of this lab is 0 where a number belongs that is not."""
    one, many = (case_of({"x0": f"float32[{size}]"}, [("v0", "neg", "x0")], "v0") for size in (1, 3))
    scalar = case_of({"x0": "float32[3]"}, [("v0", "sum", "x0", {"dim": None, "keepdim": False})], "v0")
    wrong = replace(FINDING, kind=Kind.WRONG_VALUE)
    assert [tells_enough(case, many, wrong) for case in (one, many, scalar)] == [False, True, True]
    assert tells_enough(one, one, wrong)
    assert tells_enough(one, many, FINDING)


@pytest.mark.slow
def test_the_search_ends_with_its_runs() -> None:
    given = lab(lambda case: True)
    scope_of(given, NEG, FINDING, Effort(40))
    assert 40 <= len(given.ran) <= 40 + 13  # the dtypes are always asked


@pytest.mark.slow
def test_what_is_found_does_not_depend_on_the_cpu_seconds_of_the_runs() -> None:
    def fails(case: Case) -> bool:
        return case.tensors["x0"].size % 4 == 1

    def found(seconds: float) -> Scope:
        given = lab(fails)

        def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
            return replace(FakeLab.run(given, case, lanes), cpu_seconds=seconds)

        given.run = given.run_fresh = run
        scope = scope_of(given, NEG, FINDING)
        assert not scope.cut_short
        return replace(scope, cpu_seconds=0.0)

    assert found(0.01) == found(1.0)


@pytest.mark.slow
def test_a_search_that_reaches_its_limit_of_cpu_seconds_says_so() -> None:
    """Each run of this lab takes one CPU second."""
    scope = scope_of(lab(lambda case: True), NEG, FINDING, replace(WHOLE_EFFORT, seconds=12.0))
    assert 12.0 <= scope.cpu_seconds <= 12.0 + 13  # the dtypes are always asked
    assert cut_short_in_words(scope).startswith(f"The search ended after {scope.cpu_seconds:.0f} CPU seconds")
    assert not cut_short_in_words(scope_of(lab(lambda case: True), NEG, FINDING))


@pytest.mark.slow
def test_a_failure_that_no_three_conditions_describe_has_no_statement() -> None:
    scope = scope_of(
        lab(lambda case: case.tensors["x0"].size % 3 == 0 and case.tensors["x0"].sum() % 2 < 1),
        NEG,
        FINDING,
    )
    assert not scope.is_certain


@pytest.mark.slow
def test_the_conditions_are_about_calls_of_larger_graphs_too() -> None:
    chain = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0"), ("v1", "cumsum", "v0", {"dim": -1})], "v1")
    negative = Condition(Property(1, "dim", "value"), Relation.AT_MOST, (-1,))
    scope = scope_of(lab(lambda case: negative.holds(properties(case))), chain, FINDING)
    assert scope.statement == Statement((negative,))


def test_a_case_that_does_not_fail_here_has_no_scope() -> None:
    scope = scope_of(lab(lambda case: False), NEG, FINDING)
    assert scope == replace(NO_SCOPE, cpu_seconds=scope.cpu_seconds)


def test_a_value_is_an_exception_only_where_the_failing_case_passes_with_it() -> None:
    """The only case with alpha 3 had no elements, so it passed whatever its alpha."""

    def sub(size: int, alpha: int) -> Case:
        types = {"x0": f"float32[{size}]", "x1": f"float32[{size}]"}
        return case_of(types, [("v0", "sub", "x0 x1", {"alpha": alpha})], "v0")

    def ask(case: Case) -> Answer:
        fails = case.graph.nodes[0].attrs["alpha"] != 1 and case.graph.inputs[0].value.type.numel
        return Answer.FAILS if fails else Answer.PASSES

    answers, start = Answers(ask, lambda count: count / 100), sub(2, 2)
    for case in (start, sub(3, 5), sub(1, -2), sub(4, 7), sub(5, 0), sub(2, 1), sub(0, 3)):
        answers.about(case)
    alpha = Property(0, "alpha", "value")
    assert Condition(alpha, Relation.NOT_IN, (1, 3)) in answers.statements()[0].conditions
    statement = _with_each_exception_tried(answers, start)
    assert statement is not None
    assert not any(condition.property == alpha and 3 in condition.values for condition in statement.conditions)
    assert answers.knows(sub(2, 3))
