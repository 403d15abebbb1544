"""The search for a case that people write, without a compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.signature import final_signature, signature_of
from fuzzer.triage.natural.find import MOST_QUESTIONS, least_odd, natural
from fuzzer.triage.natural.oddity import oddity
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Condition, Property, Relation, Statement
from generators.graph import Case, DType
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Facts, Outcome, Result, Stage

SMALL = case_of({"x0": "int64[1]"}, [("v0", "neg", "x0")], "v0")
RAISED = fakes.raised(Stage.COMPILE)
FINDING = Finding(Kind.INTERNAL_ERROR, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED)
SAVED = final_signature(signature_of(FINDING), SMALL)


def type_of(case: Case) -> str:
    return str(case.graph.inputs[0].value.type)


def counting(fails: Callable[[Case], bool]) -> tuple[Callable[[Case], bool], list[Case]]:
    ran: list[Case] = []

    def counted(case: Case) -> bool:
        ran.append(case)
        return fails(case)

    return counted, ran


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda case: True, "float32[2,3]"),
        (lambda case: case.graph.inputs[0].value.type.dtype is DType.INT64, "int64[2,3]"),
        (lambda case: case.graph.inputs[0].value.type.rank == 1, "float32[2]"),
        (lambda case: case.graph.inputs[0].value.type.numel == 1, "float32[1]"),
    ],
)
def test_what_the_bug_does_not_need_becomes_usual(fails: Callable[[Case], bool], expected: str) -> None:
    fails, ran = counting(fails)
    assert type_of(least_odd(SMALL, fails)) == expected
    assert len(ran) <= MOST_QUESTIONS


def test_a_case_that_always_fails_takes_one_run_to_change_all() -> None:
    fails, ran = counting(lambda case: True)
    assert oddity(least_odd(SMALL, fails)) == 0
    assert len(ran) == 1


def test_without_a_less_odd_case_that_fails_the_case_stays() -> None:
    fails, ran = counting(lambda case: False)
    assert least_odd(SMALL, fails) is SMALL
    assert len(ran) <= MOST_QUESTIONS


def test_a_certain_statement_saves_runs() -> None:
    integers = Statement((Condition(Property(0, "operand 0", "dtype"), Relation.IN, ("int64", "int32")),))
    fails, ran = counting(lambda case: case.graph.inputs[0].value.type.dtype in (DType.INT64, DType.INT32))
    assert type_of(least_odd(SMALL, fails, integers)) == "int64[2,3]"
    assert all(integers.holds(properties(case)) for case in ran)


@pytest.mark.slow
def test_calls_whose_operands_depend_on_each_other_are_drawn() -> None:
    small = case_of({"x0": "float32[1,1]", "x1": "float32[1,1]"}, [("v0", "mm", "x0 x1")], "v0")
    found = least_odd(small, lambda case: True)
    assert oddity(found) == 0
    assert len({size for item in found.graph.inputs for size in item.value.type.sizes}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selu", "relu", "exp", "neg", "abs"])
def test_a_call_that_is_drawn_has_the_outputs_of_the_case(name: str) -> None:
    """A drawn graph may return its input too, which has nothing to do with the failure."""
    small = case_of({"x0": "float32[1]"}, [("v0", name, "x0")], "v0")
    fails, ran = counting(lambda case: False)
    assert least_odd(small, fails) is small
    assert ran
    assert {tuple(case.graph.outputs) for case in ran} == {("v0",)}


def test_the_case_is_confirmed_in_fresh_children() -> None:
    lab = FakeLab(lambda *_: RAISED)
    found = natural(lab, SMALL, FINDING, SAVED, lab.examine)
    assert found is not None
    assert (type_of(found.case), found.again, found.runs) == ("float32[2,3]", 3, 3)
    assert found.finding.evidence == RAISED
    assert len(lab.fresh) >= 3


class OnlyUsed(FakeLab):
    """A lab whose fresh children are right."""

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return FakeLab(lambda *_: None).run(case, lanes)


@pytest.mark.slow
def test_a_case_that_fails_only_in_used_children_is_none() -> None:
    lab = OnlyUsed(lambda *_: RAISED)
    assert natural(lab, SMALL, FINDING, SAVED, lab.examine) is None


def test_a_case_for_which_something_else_is_blamed_is_none() -> None:
    lab = FakeLab(lambda *_: RAISED)
    blamed = replace(SAVED, blamed=("frontend", "_neg"))
    assert natural(lab, SMALL, FINDING, blamed, lab.examine) is None


READ = MemoryAccess(Access.READ, "an intermediate tensor", Side.AFTER, 1, "int64")


@pytest.mark.parametrize("shows_everywhere", [True, False])
def test_a_case_that_shows_the_failure_as_another_kind_is_none(shows_everywhere: bool) -> None:
    """A read out of bounds may show as results that differ. It is reported as what was found: the bounds say more."""
    right = fakes.expect([1.0, -2.0])

    def outcome(case: Case, *_: object) -> Outcome:
        if shows_everywhere or type_of(case) == type_of(SMALL):
            return replace(fakes.correct((right,)), facts=Facts(accesses=(READ,)))
        return fakes.unstable((right,))

    lab = FakeLab(outcome)
    finding = Finding(Kind.OUT_OF_BOUNDS_READ, Component.TVM, fakes.TVM, Stage.RUN, READ)
    found = natural(lab, SMALL, finding, final_signature(signature_of(finding), SMALL), lab.examine)
    assert (found is not None) is shows_everywhere


@pytest.mark.parametrize("kind", [Kind.TIMED_OUT, Kind.SLOW, Kind.BLOAT, Kind.CHECKER_GAP])
def test_kinds_that_are_not_looked_for_run_nothing(kind: Kind) -> None:
    lab = FakeLab(lambda *_: RAISED)
    assert (
        natural(lab, SMALL, Finding(kind, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED), SAVED, lab.examine) is None
    )
    assert lab.ran == []
