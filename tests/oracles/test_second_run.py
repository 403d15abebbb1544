from __future__ import annotations

import fakes
import numpy as np
import pytest
from fakes import CASE, ONNXRUNTIME, TVM, TVM_ONNX

from generators.graph import Array
from oracles.finding import Component, Finding, Kind, Mismatch, WorstElement
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Stage
from oracles.second_run import second_run

RIGHT = fakes.TWO_OUTPUTS


def judged(first: Array, second: Array) -> list[Finding]:
    return list(second_run(CASE, {TVM: Ran((first,), (second,))}))


@pytest.mark.parametrize(
    ("lane", "component"), [(TVM, Component.TVM), (TVM_ONNX, Component.TVM), (ONNXRUNTIME, Component.ONNXRUNTIME)]
)
def test_a_lane_whose_second_run_differs_is_found(lane: LaneSpec, component: Component) -> None:
    run = fakes.unstable(RIGHT)
    one, other = (float(outputs[0][1, 1]) for outputs in (run.outputs, run.again or ()))
    evidence = Mismatch(
        0,
        "the first run's result",
        "1 of 4 elements differ",
        WorstElement((1, 1), one, other, 0.0, 0.0),
        elements=4,
        wrong=1,
        against="the first run",
    )
    assert list(second_run(CASE, {lane: fakes.unstable(RIGHT)})) == [
        Finding(Kind.SECOND_RUN_DIFFERS, component, lane, Stage.RUN, evidence)
    ]


def test_each_lane_is_judged_without_references() -> None:
    found = list(second_run(CASE, {TVM: fakes.unstable(RIGHT), TVM_ONNX: fakes.correct(RIGHT)}))
    assert [finding.lane for finding in found] == [TVM]


@pytest.mark.parametrize("mistake", [name for name in fakes.WRONG_RESULTS if name != "unstable"])
def test_a_result_that_is_wrong_in_both_runs_is_stable(mistake: str) -> None:
    assert list(second_run(CASE, {TVM: fakes.WRONG_RESULTS[mistake][0](RIGHT)})) == []


@pytest.mark.parametrize(
    "outcome",
    [Ran((np.zeros(2),)), *fakes.NO_VERDICT.values(), fakes.raised(Stage.RUN), fakes.segfault(Stage.RUN)],
)
def test_without_a_second_run_there_is_no_finding(outcome: Outcome) -> None:
    assert list(second_run(CASE, {TVM: outcome})) == []


def test_the_evidence_is_the_first_unstable_output() -> None:
    first = (np.zeros(2), np.zeros(3), np.zeros(3))
    second = (np.zeros(2), np.ones(3), np.ones(3))
    (finding,) = second_run(CASE, {TVM: Ran(first, second)})
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.output, finding.evidence.actual) == (1, "3 of 3 elements differ")


def test_equal_nans_are_equal() -> None:
    assert judged(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == []


def test_the_sign_of_zero_does_not_count() -> None:
    assert judged(np.array([0.0]), np.array([-0.0])) == []


@pytest.mark.parametrize("second", [np.zeros(3, np.float32), np.zeros((1, 2), np.float32), np.zeros(2, np.int32)])
def test_another_shape_or_dtype_in_the_second_run_is_found(second: Array) -> None:
    assert [finding.kind for finding in judged(np.zeros(2, np.float32), second)] == [Kind.SECOND_RUN_DIFFERS]


def test_0d_and_empty_outputs_are_compared() -> None:
    assert judged(np.array(1.0), np.array(1.0)) == []
    assert judged(np.zeros((0, 2)), np.zeros((0, 2))) == []
    assert len(judged(np.array(1), np.array(2))) == 1


def test_a_missing_output_in_the_second_run_is_found() -> None:
    (finding,) = second_run(CASE, {TVM: Ran((np.zeros(2), np.zeros(2)), (np.zeros(2),))})
    assert finding.kind is Kind.SECOND_RUN_DIFFERS


@pytest.mark.parametrize(("first", "second"), [([0.0, 1.0], [-0.0, 2.0]), ([np.nan, 1.0], [np.nan, 2.0])])
def test_only_elements_that_differ_are_counted(first: list[float], second: list[float]) -> None:
    (finding,) = judged(np.array(first), np.array(second))
    assert isinstance(finding.evidence, Mismatch)
    assert finding.evidence.actual == "1 of 2 elements differ"
