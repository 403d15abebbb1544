"""Dimensions of inputs that TVM compiles for all sizes."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.triage.scope.find import WHOLE_EFFORT, scope_of
from fuzzer.triage.scope.open_sizes import open_dimensions, opened
from generators.check import check
from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Stage

RAISED = fakes.raised(Stage.COMPILE)
SYMBOLIC = next(lane for lane in EVERY_TVM_LANE if lane.name == "relax-export-symbolic")
LINEAR = case_of({"x0": "float32[5,3]", "x1": "float32[3,4]"}, [("v0", "matmul", "x0 x1")], "v0")


def types_of(case: Case | None) -> list[str]:
    assert case is not None
    return [str(value.type) for value in case.graph.values()]


def test_equal_sizes_share_a_symbol_and_results_get_formulas() -> None:
    square = case_of({"x0": "float32[3,3]"}, [("v0", "repeat", "x0", {"repeats": (2, 1)})], "v0")
    assert types_of(opened(square, {("x0", 0)})) == ["float32[n0,3]", "float32[2*n0,3]"]
    assert types_of(opened(square, {("x0", 0), ("x0", 1)})) == ["float32[n0,n0]", "float32[2*n0,n0]"]


def test_a_case_runs_at_its_own_sizes() -> None:
    changed = opened(LINEAR, {("x0", 0)})
    assert changed is not None
    check(changed)
    assert types_of(changed) == ["float32[n0,3]", "float32[3,4]", "float32[n0,4]"]
    assert (changed.sizes, changed.also) == ({"n0": 5}, ({"n0": 4},))
    assert types_of(changed.at(changed.sizes)) == types_of(LINEAR)
    assert open_dimensions(changed) == {("x0", 0)}


@pytest.mark.parametrize("dimensions", [{("x0", 1)}, {("x1", 0)}, {("x0", 7)}, set()])
def test_what_cannot_be_open(dimensions: set[tuple[str, int]]) -> None:
    """The two inner sizes of a product are equal, so that only both together may be open."""
    assert opened(LINEAR, dimensions) is None
    assert types_of(opened(LINEAR, {("x0", 1), ("x1", 0)})) == ["float32[5,n0]", "float32[n0,4]", "float32[5,4]"]


def test_sizes_of_0_and_1_stay() -> None:
    assert opened(case_of({"x0": "float32[1,0]"}, [("v0", "neg", "x0")], "v0"), {("x0", 0), ("x0", 1)}) is None


def is_open(case: Case, lane: LaneSpec) -> bool:
    return bool(case.graph.symbols) and lane.symbolic


@pytest.mark.slow
def test_the_table_says_what_open_sizes_do() -> None:
    def run(case: Case, lane: LaneSpec, *_: object) -> Outcome | None:
        return None if is_open(case, lane) and open_dimensions(case) == {("x0", 0)} else RAISED

    finding = Finding(Kind.INTERNAL_ERROR, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED)
    scope = scope_of(FakeLab(run), LINEAR, finding, WHOLE_EFFORT)
    assert [(each.value, str(each.answer)) for each in scope.variations if each.what == "open size of x0"] == [
        ("none", "fails"),
        ("dimension 0", "passes"),
    ]
    assert scope.statement is not None
    assert scope.statement.conditions == (), "a statement is about fixed sizes"


@pytest.mark.slow
def test_the_scope_of_a_failure_that_needs_open_sizes() -> None:
    """It fails for floats of rank 2, compiled for all sizes of the first dimension."""

    def run(case: Case, lane: LaneSpec, *_: object) -> Outcome | None:
        type = case.graph.inputs[0].value.type
        return RAISED if is_open(case, lane) and type.dtype.is_float else None

    static = case_of({"x0": "float32[3,5]"}, [("v0", "neg", "x0")], "v0")
    case = opened(static, {("x0", 0)})
    assert case is not None
    lane = replace(SYMBOLIC, checked=False)
    finding = Finding(Kind.INTERNAL_ERROR, Component.TVM, lane, Stage.COMPILE, RAISED)
    scope = scope_of(FakeLab(run), case, finding, WHOLE_EFFORT)
    assert scope.is_certain
    assert scope.statement is not None
    assert [condition.property.what for condition in scope.statement.conditions] == ["dtype"]
    rows = {(each.what, each.value): str(each.answer) for each in scope.variations}
    assert (rows["open size of x0", "none"], rows["open size of x0", "dimension 1"]) == ("passes", "fails")
    assert rows["size of dimension 0", "1"] == "is not valid", "a size of 1 is not open"
    assert dict(scope.routes)["from_exported_program"] == "fails"
