from __future__ import annotations

import fakes
import pytest
from fakes import CASE, ONNXRUNTIME, TORCH, TVM, TVM_C, TVM_ONNX, with_lanes
from violations import ALSO_CAUGHT_BY, CORRECT_OUTCOMES, GRADIENT, VALUE_AND_GRADIENT, VIOLATIONS

from oracles.finding import Component, Kind, Oracle
from oracles.judge import ORACLES, judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Outcomes, Ran, Stage

RIGHT = fakes.TWO_OUTPUTS
CORRECT = fakes.correct(RIGHT)


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(f.kind, f.component, f.lane) for f in judge_all(CASE, with_lanes(RIGHT, lanes))]


def unstable_and_wrong() -> Ran:
    wrong = fakes.wrong_value(RIGHT).outputs
    return Ran(wrong, CORRECT.outputs)


def test_correct_results_give_no_findings() -> None:
    assert verdicts({ONNXRUNTIME: CORRECT, TVM: CORRECT, TVM_C: CORRECT, TVM_ONNX: CORRECT}) == []


@pytest.mark.parametrize("mistake", fakes.WRONG_RESULTS)
@pytest.mark.parametrize("lane", [TVM, TVM_ONNX])
def test_every_wrong_result_gives_one_finding(lane: LaneSpec, mistake: str) -> None:
    wrong, kind = fakes.WRONG_RESULTS[mistake]
    assert verdicts({ONNXRUNTIME: CORRECT, lane: wrong(RIGHT)}) == [(kind, Component.TVM, lane)]


@pytest.mark.parametrize("failure", fakes.FAILURES)
def test_every_failure_gives_one_finding(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    assert verdicts({ONNXRUNTIME: CORRECT, TVM: make(Stage.IMPORT)}) == [(kind, Component.TVM, TVM)]


def test_every_oracle_has_a_violation() -> None:
    assert [oracle.__name__ for oracle in ORACLES] == list(VIOLATIONS)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.__name__)
def test_no_oracle_objects_to_correct_outcomes(oracle: Oracle) -> None:
    assert list(oracle(CASE, CORRECT_OUTCOMES)) == []


@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_violation_is_found_by_its_oracle_and_by_no_other(name: str) -> None:
    violation = VIOLATIONS[name]
    findings = {oracle.__name__: list(oracle(CASE, violation.outcomes)) for oracle in ORACLES}
    found_here = [(finding.kind, finding.component, finding.lane) for finding in findings[name]]
    assert found_here == [(violation.kind, violation.component, violation.lane)]
    assert {other for other, found in findings.items() if found} == {name} | ALSO_CAUGHT_BY.get(name, set())


@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_violation_gives_one_finding(name: str) -> None:
    violation = VIOLATIONS[name]
    (finding,) = judge_all(CASE, violation.outcomes)
    assert [finding] == list(next(o for o in ORACLES if o.__name__ == name)(CASE, violation.outcomes))


def test_a_lane_that_is_unstable_and_wrong_has_one_finding_from_the_second_run() -> None:
    assert len([f for oracle in ORACLES for f in oracle(CASE, with_lanes(RIGHT, {TVM: unstable_and_wrong()}))]) == 2
    assert verdicts({TVM: unstable_and_wrong()}) == [(Kind.SECOND_RUN_DIFFERS, Component.TVM, TVM)]


def test_each_lane_has_its_own_finding() -> None:
    lanes: Outcomes = {
        ONNXRUNTIME: CORRECT,
        TVM: fakes.nan(RIGHT),
        TVM_C: fakes.hung(Stage.COMPILE),
        TVM_ONNX: fakes.unstable(RIGHT),
    }
    assert set(verdicts(lanes)) == {
        (Kind.WRONG_VALUE, Component.TVM, TVM),
        (Kind.TIMED_OUT, Component.TVM, TVM_C),
        (Kind.SECOND_RUN_DIFFERS, Component.TVM, TVM_ONNX),
    }


def test_the_exporter_and_not_tvm_is_at_fault_for_a_wrong_file() -> None:
    wrong = fakes.wrong_value(RIGHT)
    assert verdicts({ONNXRUNTIME: wrong, TVM_ONNX: wrong}) == [(Kind.WRONG_VALUE, Component.EXPORTER, ONNXRUNTIME)]


@pytest.mark.parametrize("outcome", fakes.NO_VERDICT.values(), ids=list(fakes.NO_VERDICT))
def test_unsupported_and_skipped_are_never_findings(outcome: Outcome) -> None:
    assert verdicts({TORCH: outcome, ONNXRUNTIME: outcome, TVM: outcome, TVM_ONNX: outcome}) == []
    assert verdicts({ONNXRUNTIME: outcome, TVM: outcome, TVM_ONNX: outcome}) == []


def test_an_invalid_case_gives_no_findings() -> None:
    refused = fakes.raised(Stage.RUN)
    everyone = dict.fromkeys([*fakes.references(*RIGHT), TVM, TVM_ONNX, ONNXRUNTIME], refused)
    assert list(judge_all(CASE, everyone)) == []


def test_oracles_are_pure() -> None:
    right = (fakes.expect([1.0, 2.0], envelope=0.5), fakes.expect([True], dtype="bool"))
    lanes = {ONNXRUNTIME: fakes.correct(right), TVM: fakes.wrong_value(right), TVM_C: fakes.nan(right)}
    outcomes = with_lanes(right, lanes)
    for outcome in outcomes.values():
        assert isinstance(outcome, Ran)
        for array in (*outcome.outputs, *(outcome.again or ())):
            array.flags.writeable = False
    first, second = (
        repr(list(judge_all(CASE, outcomes))) for _ in range(2)
    )  # as text, because NaN does not equal itself
    assert first == second


def test_gradients_of_another_function_are_not_judged() -> None:
    """Where the differentiated value itself is wrong, oracles that judge results give the finding."""
    elsewhere = fakes.wrong_value(VALUE_AND_GRADIENT)
    assert list(judge_all(CASE, {**CORRECT_OUTCOMES, GRADIENT: elsewhere})) == []
