"""Operators like the one of a case."""

from __future__ import annotations

import fakes
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.triage.scope.siblings import siblings
from fuzzer.triage.scope.statement import Answer
from generators.choice import NumpySource
from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Outcome, Stage

RAISED = fakes.raised(Stage.COMPILE)
FINDING = Finding(Kind.INTERNAL_ERROR, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED)
ADD = case_of({"x0": "float32[3]", "x1": "float32[3]"}, [("v0", "add", "x0 x1", {"alpha": 2})], "v0")


def test_without_a_statement_they_get_the_operands_and_the_attributes_of_the_case() -> None:
    met: list[Case] = []

    def outcome(case: Case, *_: object) -> Outcome | None:
        met.append(case)
        return RAISED if case.graph.ops == ("sub",) else None

    answers = siblings(FakeLab(outcome), NumpySource(0), ADD, FINDING, None, lambda: True)
    assert dict(answers)["sub"] is Answer.FAILS
    assert {answer for name, answer in answers if name != "sub"} == {Answer.PASSES}
    assert all(case.tensors == ADD.tensors for case in met)
    assert [dict(case.graph.nodes[0].attrs) for case in met if case.graph.ops == ("sub",)] == [{"alpha": 2}]


def test_several_calls_have_none() -> None:
    two = case_of({"x0": "float32[3]"}, [("v0", "neg", "x0"), ("v1", "exp", "v0")], "v1")
    lab = FakeLab(lambda case, lane, lanes: RAISED)
    assert siblings(lab, NumpySource(0), two, FINDING, None, lambda: True) == ()


def test_an_operator_that_draws_no_attributes_for_the_operands_is_left_out() -> None:
    """A matrix norm of a tensor without dimensions has no rows and columns."""
    case = case_of({"x0": "float32[]"}, [("v0", "norm", "x0", {"p": 2.0, "dim": None, "keepdim": False})], "v0")
    answers = siblings(FakeLab(lambda *_: RAISED), NumpySource(0), case, FINDING, None, lambda: True)
    assert "linalg_matrix_norm" not in dict(answers)
