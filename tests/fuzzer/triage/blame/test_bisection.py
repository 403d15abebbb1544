"""Bisection finds the pass at fault, and blames none if no single pass decides."""

from __future__ import annotations

from math import ceil, log2

import pytest
from compiler import Compiler, chain, runs
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.triage.blame.bisection import DecidingPass, deciding_pass, first_failing
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran
from oracles.trace import PassRun, Tracing


def pipeline(optional: list[bool], changed: list[bool]) -> list[PassRun]:
    return [PassRun(f"P{i}", o, True, c) for i, (o, c) in enumerate(zip(optional, changed, strict=True))]


@pytest.mark.slow
@given(st.data())
def test_the_one_that_decides_is_named(data: st.DataObject) -> None:
    optional = data.draw(st.lists(st.booleans(), min_size=1, max_size=40).filter(any))
    places = [place for place, each in enumerate(optional) if each]
    deciding = data.draw(st.integers(0, len(places) - 1))
    changed = [data.draw(st.booleans()) or place == places[deciding] for place in range(len(optional))]
    compiler = Compiler(lambda lane, names: set(names) if runs(lane, deciding) else set(), pipeline(optional, changed))
    context = compiler.context(chain())
    whole = context.traced()
    assert deciding_pass(context, whole.trace) == DecidingPass(
        f"P{places[deciding]}", places[deciding], deciding, len(places)
    )
    candidates = sum(changed[place] for place in places)
    assert context.runs <= 2 + ceil(log2(candidates + 1))


def test_nobody_is_blamed_where_it_fails_without_all_of_them() -> None:
    compiler = Compiler(lambda lane, names: set(names), pipeline([True, False, True], [True, True, True]))
    context = compiler.context(chain())
    assert deciding_pass(context, context.traced().trace) is None
    assert context.runs == 2


def test_nor_where_no_pass_that_can_be_left_out_changed_anything() -> None:
    compiler = Compiler(lambda lane, names: set(names), pipeline([True, False], [False, True]))
    context = compiler.context(chain())
    assert deciding_pass(context, context.traced().trace) is None
    assert context.runs == 1


def test_nor_where_it_fails_otherwise_in_front_of_it() -> None:
    """Without the second pass another output is wrong in its shape: that is no proof against the pass."""

    class Otherwise(Compiler):
        def _compiled(self, lane: LaneSpec, names: tuple[str, ...]) -> Outcome:
            ran = super()._compiled(lane, names)
            if runs(lane, 1):
                return ran
            assert isinstance(ran, Ran)
            return Ran(tuple(array[:1] for array in ran.outputs), None, ran.facts)

    compiler = Otherwise(lambda lane, names: set(names), pipeline([True, True], [True, True]))
    context = compiler.context(chain())
    assert deciding_pass(context, context.traced().trace) is None


@given(st.integers(2, 200), st.data())
def test_the_boundary_is_one_where_it_is_right_on_one_side_and_wrong_on_the_other(
    count: int, data: st.DataObject
) -> None:
    """Where passes hide and show it in turn, too."""
    wrong = [False, *data.draw(st.lists(st.booleans(), min_size=count - 2, max_size=count - 2)), True]
    context: list[int] = []

    def fails(limit: int) -> bool:
        context.append(limit)
        return wrong[limit]

    found = first_failing(range(count), fails)
    assert wrong[found]
    assert not wrong[found - 1]
    assert len(context) <= ceil(log2(count))


def test_a_lane_is_run_once_however_often_it_is_requested() -> None:
    compiler = Compiler(lambda lane, names: set(names))
    context = compiler.context(chain())
    assert context.traced(Tracing(limit=3)).fails
    assert context.traced(Tracing(limit=3)).fails
    assert context.runs == 1
