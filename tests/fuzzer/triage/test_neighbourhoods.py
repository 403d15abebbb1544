"""A large case in windows: each node is in one, with its neighbours, and the windows that fail are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from fakes import ONNX, TVM_MODEL
from graphs_by_hand import Call, case_of
from labs import FakeLab

from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.neighbourhoods import OVERLAP, WINDOW, failing_windows, is_large, windows
from generators.graph import Case
from oracles.finding import Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran

COUNT = 150
FAILING = (70, 140)


def large(count: int = COUNT) -> Case:
    calls: list[Call] = [
        (f"v{place}", "Relu-14" if place in FAILING else "Neg-13", f"v{place - 1}" if place else "x0")
        for place in range(count)
    ]
    return case_of({"x0": "float32[2]"}, calls, f"v{count - 1}", opset=17)


def wrong_relu(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    if "Relu" not in case.graph.ops:
        return None
    outputs = tuple(np.array([5.0, 5.0], np.float32) for _ in case.graph.outputs)
    return Ran(outputs, outputs)


def test_neighbours_are_together_in_a_window() -> None:
    case, lab = large(), FakeLab(wrong_relu)
    computed = computed_values(lab.run, case)
    assert (len(computed), is_large(case), is_large(large(2 * WINDOW))) == (COUNT, True, False)
    found = list(windows(case, TVM_MODEL, computed))
    whole = case.graph.ops
    step = WINDOW - OVERLAP
    assert [each.graph.ops for each in found] == [
        whole[start : start + WINDOW] for start in range(0, COUNT - OVERLAP, step)
    ]
    for first in range(COUNT - OVERLAP + 1):
        assert any(start <= first and first + OVERLAP <= start + WINDOW for start in range(0, COUNT - OVERLAP, step))
    (x,) = found[1].graph.inputs
    assert np.array_equal(found[1].tensors[x.value.name], computed[f"v{step - 1}"])


@pytest.mark.parametrize("width", [1, 4])
def test_the_windows_that_fail_are_found_in_order(width: int) -> None:
    case, lab = large(), FakeLab(wrong_relu)
    found = failing_windows(lab.run, case, (TVM_MODEL,), computed_values(lab.run, case), width)
    assert [each.sighting.finding.kind for each in found] == [Kind.WRONG_VALUE] * 2
    assert ["Relu" in each.case.graph.ops for each in found] == [True] * 2
    assert all(ONNX not in each.sighting.lanes for each in found)


def test_a_window_whose_operands_are_unknown_is_left_out() -> None:
    case = large()
    computed = dict(computed_values(FakeLab(wrong_relu).run, case))
    del computed[f"v{WINDOW - OVERLAP - 1}"]
    assert len(list(windows(case, TVM_MODEL, computed))) == 2
