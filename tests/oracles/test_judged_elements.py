"""How many elements are judged, and why the others are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import CASE, TORCH_ENVELOPE, TVM, expect, references

from oracles.judged_elements import (
    JudgedElements,
    Unjudged,
    elements_line,
    judged_elements,
    reasons_in,
    unjudged_outputs,
    why_none,
)
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Outcome, Ran, Unsupported
from oracles.outcome import Stage as LaneStage
from oracles.reference import Expected

INF, NAN = np.inf, np.nan


def counted(*right: Expected, lane: LaneSpec = TVM, facts: Facts = Facts()) -> JudgedElements:
    """The count where the lane has the results that are expected."""
    outcomes: dict[LaneSpec, Outcome] = {**references(*right), lane: Ran(tuple(each.eager for each in right))}
    measured = outcomes[TORCH_ENVELOPE]
    assert isinstance(measured, Ran)
    outcomes[TORCH_ENVELOPE] = replace(measured, facts=facts)
    return judged_elements(outcomes, [lane])


@pytest.mark.parametrize(
    ("right", "reasons"),
    [
        (expect([1.0, -2.0], envelope=0.1), {}),
        (expect([1.0, -2.0], envelope=0.5), {Unjudged.WIDE: 1}),
        (expect([0.0, 0.0], envelope=[0.0, 1e-7]), {Unjudged.WIDE: 1}),
        (expect([1.0, 2.0], ill=[True, False]), {Unjudged.ILL: 1}),
        (expect([INF, NAN, 1.0], truth=[INF, NAN, 1.0]), {}),
        (expect([INF, 1.0], truth=[3.0, 1.0]), {Unjudged.NOT_FINITE: 1}),
        (expect([1.0, 1.0], truth=[1.0, 2.0]), {Unjudged.DOUBTFUL: 1}),
        (expect([7, 8], dtype="int64"), {}),
        (expect([7, 8], ill=[True, True], dtype="int64"), {Unjudged.ILL: 2}),
        (expect([]), {}),
    ],
)
def test_each_element_has_the_first_reason_that_holds(right: Expected, reasons: dict[Unjudged, int]) -> None:
    found = counted(right)
    assert found.unjudged == reasons
    assert found.judged == right.eager.size - sum(reasons.values())


def test_where_a_value_is_undefined_that_may_be_the_reason() -> None:
    found = counted(expect([1.0, 2.0], ill=[True, False]), facts=Facts(undefined=("open-order",)))
    assert found.unjudged == {Unjudged.OPEN: 1}
    what = "the indices of equal elements in a ranking that is not stable, and the results of one that is not sorted"
    assert reasons_in(CASE, found) == ((f"rounding decides it, or no framework defines it ({what})", 1),)


def test_passes_that_round_in_another_way_judge_less() -> None:
    right = expect([1.0, 1e-6]), expect([1, 2], dtype="int64")
    half = replace(TVM, name="half", passes=("ToMixedPrecision",))
    found = counted(*right, lane=half)
    assert found.unjudged == {Unjudged.OTHER_ROUNDING: 2, Unjudged.WIDE: 1}


def test_what_is_judged_in_one_lane_is_judged() -> None:
    half = replace(TVM, name="half", passes=("ToMixedPrecision",))
    right = expect([1, 2], dtype="int64")
    outcomes = {**references(right), TVM: Ran((right.eager,)), half: Ran((right.eager,))}
    assert judged_elements(outcomes, [TVM, half]).judged == 2


def test_without_references_no_element_is_judged() -> None:
    right = expect([1.0, 2.0])
    outcomes: dict[LaneSpec, Outcome] = {**references(right), TVM: Ran((right.eager,))}
    outcomes[TORCH_ENVELOPE] = Unsupported(LaneStage.RUN, "why")
    found = judged_elements(outcomes, [TVM])
    assert (found.elements, found.judged, found.none) == (2, 0, True)


def test_a_lane_that_did_not_run_has_no_elements() -> None:
    right = expect([1.0, 2.0])
    found = judged_elements({**references(right), TVM: Unsupported(LaneStage.IMPORT, "why")}, [TVM])
    assert (found.elements, found.none) == (0, False)


def test_an_overflow_is_named_with_its_operator() -> None:
    found = counted(expect([1.0, -2.0], envelope=2.0), facts=Facts(overflow="v0"))
    assert found.none
    says = "no value of relu is judged: the tolerance is as wide as the number (float32 overflows at relu, node 0)"
    assert why_none(CASE, found) == says
    assert reasons_in(CASE, found) == (
        ("the tolerance is as wide as the number (float32 overflows at relu, node 0)", 2),
    )
    assert elements_line(found) == "0 of 2 elements are judged; 2 not: the tolerance is as wide as the number"


@pytest.mark.parametrize(
    ("right", "has_floats", "judged", "different"),
    [
        ((expect([1.0, -2.0, 1.0]),), True, 3, 2),
        ((expect([1.0, 1.0]), expect([2.0])), True, 3, 1),
        ((expect([1.0, 2.0], ill=[True, False]),), True, 1, 1),
        ((expect([NAN, NAN], truth=[NAN, NAN]),), True, 2, 1),
        ((expect([1.0], envelope=1.0), expect([1, 2], dtype="int64")), True, 0, 0),
        ((expect([]),), True, 0, 0),
        ((expect([1, 2], dtype="int64"),), False, 0, 0),
    ],
)
def test_different_floats_are_those_of_the_output_with_the_most(
    right: tuple[Expected, ...], has_floats: bool, judged: int, different: int
) -> None:
    found = counted(*right)
    assert (found.has_floats, found.judged_floats, found.different_floats) == (has_floats, judged, different)


def test_without_references_it_is_still_known_that_there_are_floats() -> None:
    right = expect([1.0, 2.0])
    outcomes: dict[LaneSpec, Outcome] = {**references(right), TVM: Ran((right.eager,))}
    outcomes[TORCH_ENVELOPE] = Unsupported(LaneStage.RUN, "why")
    assert judged_elements(outcomes, [TVM]).has_floats


def test_an_output_without_a_judged_element_has_its_reasons() -> None:
    """An output without elements is none."""
    two = replace(CASE, graph=replace(CASE.graph, outputs=("x0", "v0", "x0")))
    found = counted(expect([1.0, 2.0], envelope=[0.0, 5.0]), expect([1.0, 2.0], envelope=9.0), expect([]))
    assert list(unjudged_outputs(two, found)) == [("v0", "the tolerance is as wide as the number")]
