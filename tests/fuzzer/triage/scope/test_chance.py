"""A wrong result may be right by chance, and then the case passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from graphs_by_hand import case_of

from fuzzer.triage.scope.search import Answers
from fuzzer.triage.scope.statement import Answer
from generators.graph import Case

LUCKY = 100.0


def neg(size: int, number: float = 1.0) -> Case:
    case = case_of({"x0": f"float32[{size}]"}, [("v0", "neg", "x0")], "v0")
    return replace(case, tensors={"x0": np.full(size, number, np.float32)})


def ask(case: Case) -> Answer:
    """Wrong wherever there is an element, but not to be seen in lucky numbers."""
    numbers = case.tensors["x0"]
    return Answer.FAILS if numbers.size and (numbers < LUCKY).any() else Answer.PASSES


def answers_of(with_other_numbers: Callable[[Case], Case] | None, *cases: Case) -> tuple[Answers, list[Answer]]:
    answers = Answers(ask, lambda count: 0.0, with_numbers=False, with_other_numbers=with_other_numbers)
    return answers, [answers.about(case) for case in cases]


def test_a_pass_by_chance_is_followed_by_questions_with_other_numbers() -> None:
    cases = neg(2), neg(5), neg(0), neg(3, LUCKY)
    _, found = answers_of(lambda case: neg(case.tensors["x0"].size, 2.0), *cases)
    assert found == [Answer.FAILS, Answer.FAILS, Answer.PASSES, Answer.FAILS]
    _, found = answers_of(None, *cases)
    assert found == [Answer.FAILS, Answer.FAILS, Answer.PASSES, Answer.PASSES]


def test_a_pass_counts_as_chance_if_no_statement_fits_it() -> None:
    cases = neg(3), neg(0), neg(2), neg(5), neg(2, LUCKY)
    answers, found = answers_of(lambda case: case, *cases)
    assert found[-1] is Answer.PASSES
    (plainest, *_) = answers.statements()
    assert {condition.property.what for condition in plainest.conditions} <= {"elements", "smallest size"}
    assert answers.by_chance(plainest) == 1
    answers, _ = answers_of(None, *cases)
    assert answers.statements() == []


def test_only_a_few_passes_count_as_chance() -> None:
    lucky = [neg(size, number) for size in (2, 3, 5) for number in (LUCKY, 2 * LUCKY)]
    answers, _ = answers_of(lambda case: case, neg(3), neg(0), neg(2), neg(5), *lucky)
    assert answers.statements() == []
