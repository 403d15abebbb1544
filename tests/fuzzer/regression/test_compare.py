"""What counts as a change of a lane's end."""

from __future__ import annotations

import pytest
from regression_by_hand import EXPORT, FAILURE, FX, LANES, small_corpus

from fuzzer.regression.compare import Change, changes, expected_ends
from fuzzer.regression.record import Entry
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, Ends
from oracles.finding import Component, Finding, Kind, SideEffect
from oracles.outcome import Stage

OTHER = "ffffffffffff"


@pytest.mark.parametrize(
    ("expected", "now", "change"),
    [
        (RIGHT, RIGHT, None),
        (RIGHT, OTHER, Change.WORSE),
        (RIGHT, UNSUPPORTED, Change.REFUSED),
        (RIGHT, "", Change.MISSING),
        (UNSUPPORTED, UNSUPPORTED, None),
        (UNSUPPORTED, OTHER, Change.WORSE),
        (UNSUPPORTED, RIGHT, Change.SUPPORTED),
        (FAILURE, FAILURE, None),
        (FAILURE, RIGHT, Change.PASSES),
        (FAILURE, OTHER, Change.OTHERWISE),
        (FAILURE, UNSUPPORTED, Change.OTHERWISE),
        (FAILURE, "", Change.MISSING),
    ],
)
def test_each_change_has_a_name(expected: str, now: str, change: Change | None) -> None:
    name = EXPORT.name
    entry = {
        RIGHT: Entry("0" * 12, ["add"], "", right=[name]),
        UNSUPPORTED: Entry("0" * 12, ["add"], "", unsupported=[name]),
        FAILURE: Entry("0" * 12, ["add"], "", fails={name: FAILURE}),
    }[expected]
    ends = Ends({EXPORT: now} if now else {}, {}, frozenset(), 0.0)
    assert [each.change for each in changes(entry, LANES, ends)] == ([change] if change else [])


def test_a_lane_that_the_toolchain_cannot_run_is_left_out() -> None:
    entry = small_corpus().entries[0]
    assert expected_ends(entry) == {EXPORT.name: RIGHT, FX.name: UNSUPPORTED}
    assert list(changes(entry, {EXPORT.name: EXPORT}, Ends({EXPORT: RIGHT}, {}, frozenset(), 0.0))) == []


def test_only_what_gets_worse_is_for_the_worse() -> None:
    worse = [Change.WORSE, Change.REFUSED, Change.OTHERWISE]
    assert [change for change in Change if change.is_for_the_worse(aliasing=False)] == worse
    with_aliasing = [change for change in Change if change.is_for_the_worse(aliasing=True)]
    assert set(with_aliasing) == {*worse, Change.ALIASED}


def test_an_output_in_the_memory_of_an_input_is_a_change_of_its_own() -> None:
    shared = Finding(Kind.ALIASED_OUTPUT, Component.TVM, EXPORT, Stage.RUN, SideEffect(aliases=((0, "x0"),)))
    ends = Ends({EXPORT: OTHER}, {OTHER: shared}, frozenset(), 0.0)
    right = Entry("0" * 12, ["add"], "", right=[EXPORT.name])
    assert [each.change for each in changes(right, LANES, ends)] == [Change.ALIASED]
    failing = Entry("0" * 12, ["add"], "", fails={EXPORT.name: FAILURE})
    assert [each.change for each in changes(failing, LANES, ends)] == [Change.OTHERWISE]
