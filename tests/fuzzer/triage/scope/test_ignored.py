"""Which attributes a lane ignores, on planted bugs: the lane computes the case with other attributes, by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import fakes
import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.lanes import TORCH
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from fuzzer.triage.scope.ignored import ignored
from fuzzer.triage.scope.neighbours import with_attributes
from fuzzer.triage.scope.statement import Answer, Ignored
from fuzzer.triage.scope.variations import Varied
from generators.graph import Array, Attrs, Case, Input
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcome, Ran, Result, Stage

pytestmark = pytest.mark.slow

FINDING = Finding(Kind.WRONG_VALUE, Component.TVM, fakes.TVM, Stage.RUN, Mismatch(0, "1.0", "2.0"))
Compute = Callable[[Case], tuple[Array, ...]]


def eager(case: Case) -> tuple[Array, ...]:
    outcome = runner_of(TORCH).run(PreparedCase(case, Quiet()), TORCH, Quiet())
    assert isinstance(outcome, Ran)
    return outcome.outputs


class PlantedBug:
    """Runs lanes of PyTorch as they are, and those of TVM by `compute`. `runs` counts."""

    def __init__(self, compute: Compute) -> None:
        self._compute, self.runs = compute, 0

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.runs += 1
        outcomes: dict[LaneSpec, Outcome] = {}
        for lane in lanes:
            if lane.engine is Engine.TVM:
                outputs = self._compute(case)
                outcomes[lane] = Ran(outputs, outputs)
            elif lane.engine is Engine.TORCH:
                outcomes[lane] = runner_of(lane).run(PreparedCase(case, Quiet()), lane, Quiet())
        return Result(outcomes)

    run_fresh = run


def with_attrs(case: Case, **attrs: object) -> Case:
    changed = with_attributes(case, 0, attrs)  # type: ignore[arg-type]
    assert changed is not None
    return changed


def table(case: Case, key: str, answers: Mapping[int, Answer]) -> list[tuple[Varied, Answer]]:
    return [(Varied(key, repr(value), with_attrs(case, **{key: value})), answer) for value, answer in answers.items()]


def floats(item: Input) -> Array:
    numbers = np.linspace(-2.0, 3.0, item.value.type.numel, dtype=np.float32)
    return numbers[::-1].copy() if item.value.name == "x1" else numbers


def sub() -> Case:
    given: Attrs = {"alpha": 3}
    return case_of({"x0": "float32[3]", "x1": "float32[3]"}, [("v0", "sub", "x0 x1", given)], "v0", floats)


TABLE = {1: Answer.PASSES, 2: Answer.FAILS, 3: Answer.FAILS}


def found(compute: Compute, finding: Finding = FINDING) -> tuple[Ignored, ...]:
    return ignored(PlantedBug(compute), sub(), finding, table(sub(), "alpha", TABLE), lambda: True)


def test_an_attribute_that_never_changes_the_result_is_ignored() -> None:
    assert found(lambda case: eager(with_attrs(case, alpha=1))) == (Ignored(0, "alpha", "3", "1"),)


@pytest.mark.parametrize(
    "compute",
    [
        eager,  # it does not fail
        lambda case: tuple(array * 0 for array in eager(case)),  # it is right for no value
        lambda case: eager(with_attrs(case, alpha=min(2, case.graph.nodes[0].attrs["alpha"]))),  # 2 has its effect
    ],
    ids=["right", "zeros", "clamped"],
)
def test_an_attribute_with_an_effect_or_a_result_that_is_never_right_is_not_ignored(compute: Compute) -> None:
    assert found(compute) == ()


def test_only_results_show_it() -> None:
    assert found(lambda case: eager(with_attrs(case, alpha=1)), replace(FINDING, kind=Kind.INTERNAL_ERROR)) == ()


def test_it_costs_a_run_for_each_value_and_ends_with_the_time() -> None:
    bug = PlantedBug(lambda case: eager(with_attrs(case, alpha=1)))
    ignored(bug, sub(), FINDING, table(sub(), "alpha", TABLE), lambda: True)
    assert bug.runs == len(TABLE)
    assert ignored(bug, sub(), FINDING, table(sub(), "alpha", TABLE), lambda: False) == ()
    assert bug.runs == len(TABLE)


def test_nothing_runs_where_no_other_value_passes() -> None:
    bug = PlantedBug(lambda case: eager(with_attrs(case, alpha=1)))
    assert ignored(bug, sub(), FINDING, table(sub(), "alpha", {2: Answer.FAILS}), lambda: True) == ()
    assert bug.runs == 0


def test_a_number_that_only_changes_the_dtype_is_not_ignored() -> None:
    """`x & 0` is int64, `x & False` is bool; both are zeros. TVM gives bool for both."""
    case = case_of({"x0": "bool[3]"}, [("v0", "bitwise_and_scalar", "x0", {"other": 0})], "v0")
    others = [(False, Answer.PASSES), (True, Answer.PASSES)]
    rows = [(Varied("other", repr(value), with_attrs(case, other=value)), answer) for value, answer in others]
    bug = PlantedBug(lambda given: (eager(with_attrs(given, other=False))[0],))
    found = ignored(bug, case, replace(FINDING, kind=Kind.WRONG_DTYPE), rows, lambda: True)
    assert found == ()
