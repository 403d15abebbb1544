"""Cases of ONNX: onnxruntime and the interpreter of the onnx package must agree, or nobody's values are judged."""

from __future__ import annotations

import fakes
import numpy as np
import pytest
from fakes import CASE, ONNX, ONNX_ENVELOPE, ONNX_F64, ONNX_WITNESS, TVM_MODEL, expect

from oracles.finding import Component, Kind, component_of
from oracles.judge import judge_all
from oracles.lane import LaneSpec, is_eager, is_reference, is_witness
from oracles.outcome import Facts, IllFormed, Outcome, Ran, Stage
from oracles.reference import Expected, eager_run, expected, witnesses_disagree

RIGHT = fakes.TWO_OUTPUTS
WRONG = fakes.wrong_value(RIGHT)
MISTAKES = [name for name in fakes.WRONG_RESULTS if name != "unstable"]
REFUSALS: dict[str, Outcome] = {
    **{name: make(Stage.RUN) for name, (make, _) in fakes.FAILURES.items()},
    "unsupported": fakes.NO_VERDICT["unsupported"],
}
"""Outcomes of a witness that does not run a model."""


def outcomes(
    changed: dict[LaneSpec, Outcome] | None = None, right: tuple[Expected, ...] = RIGHT
) -> dict[LaneSpec, Outcome]:
    return {**fakes.references_of_onnx(*right), **(changed or {})}


def verdicts(changed: dict[LaneSpec, Outcome]) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(each.kind, each.component, each.lane) for each in judge_all(CASE, outcomes(changed))]


def agrees(right: Expected, witness: object) -> bool:
    """Whether a witness with this one output agrees. A case without a reference is one whose witness does not."""
    lanes = outcomes({ONNX_WITNESS: Ran((np.array(witness, right.eager.dtype),))}, (right,))
    assert witnesses_disagree(lanes) == (expected(lanes) is None)
    return not witnesses_disagree(lanes)


def test_the_lanes_of_a_case_of_onnx_are_references() -> None:
    lanes = (ONNX, ONNX_WITNESS, ONNX_F64, ONNX_ENVELOPE)
    assert [is_reference(lane) for lane in (*lanes, fakes.TORCH, TVM_MODEL)] == [True] * 5 + [False]
    assert [is_eager(lane) for lane in lanes] == [True, False, False, False]
    assert [is_witness(lane) for lane in lanes] == [False, True, False, False]
    assert {component_of(lane, stage) for lane in lanes for stage in Stage} == {Component.ONNXRUNTIME}


def test_a_witness_within_the_tolerance_changes_nothing_of_what_is_expected() -> None:
    lanes = outcomes({}, fakes.ALL_DTYPES)
    own, of_torch = expected(lanes), expected(fakes.references(*fakes.ALL_DTYPES))
    assert own is not None
    assert of_torch is not None
    for one, other in zip(own, of_torch, strict=True):
        for name in ("eager", "truth", "envelope", "ill"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert not witnesses_disagree(lanes)
    without = {lane: outcome for lane, outcome in lanes.items() if lane != ONNX_WITNESS}
    assert expected(without) is not None
    assert not witnesses_disagree(without)


# --- a file that onnxruntime does not support: the witness alone


UNKNOWN = fakes.NO_VERDICT["unsupported"]


def test_the_eager_run_of_another_dialect_is_skipped_and_counts_for_nothing() -> None:
    skipped = {fakes.TORCH: fakes.NO_VERDICT["skipped"]}
    for lanes in (outcomes(), outcomes({ONNX: UNKNOWN})):
        assert eager_run({**skipped, **lanes}) is eager_run(lanes) is not None


def test_where_onnxruntime_does_not_support_a_file_the_witness_is_the_eager_run() -> None:
    lanes = outcomes({ONNX: UNKNOWN})
    assert eager_run(lanes) is lanes[ONNX_WITNESS]
    assert not witnesses_disagree(lanes)
    own = expected(lanes)
    assert own is not None
    witness = lanes[ONNX_WITNESS]
    assert isinstance(witness, Ran)
    assert [each.eager.tolist() for each in own] == [array.tolist() for array in witness.outputs]
    assert verdicts({ONNX: UNKNOWN, TVM_MODEL: fakes.correct(RIGHT)}) == []
    doubled = Ran(tuple(array * 2 for array in witness.outputs))
    assert verdicts({ONNX: UNKNOWN, TVM_MODEL: doubled}) == [(Kind.WRONG_VALUE, Component.TVM, TVM_MODEL)]
    assert verdicts({ONNX: UNKNOWN, TVM_MODEL: fakes.rejected(Stage.IMPORT)}) == [
        (Kind.REJECTED, Component.TVM, TVM_MODEL)
    ]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_file_that_neither_runs_is_not_valid(refusal: str) -> None:
    lanes = {ONNX: UNKNOWN, ONNX_WITNESS: REFUSALS[refusal]}
    assert eager_run(outcomes(lanes)) is None
    assert verdicts({**lanes, TVM_MODEL: fakes.rejected(Stage.IMPORT)}) == []


# --- a witness with another result


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_case_whose_witness_has_another_result_judges_nobody(mistake: str) -> None:
    other = fakes.WRONG_RESULTS[mistake][0](RIGHT)
    assert witnesses_disagree(outcomes({ONNX_WITNESS: other}))
    assert expected(outcomes({ONNX_WITNESS: other})) is None
    assert verdicts({ONNX_WITNESS: other, TVM_MODEL: WRONG}) == []
    assert verdicts({ONNX_WITNESS: fakes.correct(RIGHT), TVM_MODEL: WRONG}) == [
        (Kind.WRONG_VALUE, Component.TVM, TVM_MODEL)
    ]


def test_ill_conditioned_elements_need_no_agreement() -> None:
    assert not agrees(expect([1.0, 2.0], ill=[False, False]), [1.0, 9.0])
    assert agrees(expect([1.0, 2.0], ill=[False, True]), [1.0, 9.0])
    assert not agrees(expect([1, 2], dtype="int64"), [1, 3])
    assert agrees(expect([1, 2], ill=[False, True], dtype="int64"), [1, 3])


@pytest.mark.parametrize("witness", [8.0, np.nan])
def test_a_bug_of_onnxruntime_does_not_widen_the_tolerance_of_the_witness(witness: float) -> None:
    """It is 100 envelopes off the truth. A lane is not compared there. The witness must be as far off."""
    right = expect([108.0], truth=[8.0], envelope=1.0)
    assert not agrees(right, [witness])
    assert agrees(right, [109.0])
    found = expected(outcomes({ONNX_WITNESS: Ran((np.array([109.0], np.float32),))}, (right,)))
    assert found is not None
    assert found[0].ill.tolist() == [True]


@pytest.mark.parametrize("eager", [np.nan, np.inf])
def test_where_onnxruntime_alone_is_not_finite_they_disagree(eager: float) -> None:
    assert not agrees(expect([eager, 1.0], truth=[8.0, 1.0]), [8.0, 1.0])
    assert agrees(expect([eager, 1.0], truth=[8.0, 1.0]), [eager, 1.0])


def test_integers_that_both_readers_give_but_not_the_truth_are_not_compared() -> None:
    right = expect([3, 7], truth=[2, 7], dtype="int64")
    assert agrees(right, [3, 7])
    assert not agrees(right, [2, 7])
    found = expected(outcomes({ONNX_WITNESS: Ran((right.eager,))}, (right,)))
    assert found is not None
    assert found[0].ill.tolist() == [True, False]


def test_a_shape_that_onnxruntime_alone_has_is_a_disagreement() -> None:
    lanes = outcomes({ONNX_F64: Ran((np.zeros((3, 1)), RIGHT[1].truth))})
    assert witnesses_disagree(lanes)
    assert expected(lanes) is None


# --- a witness without a result


@pytest.mark.parametrize("refusal", REFUSALS)
def test_tvm_is_not_blamed_for_a_model_that_the_witness_does_not_run(refusal: str) -> None:
    lanes = {ONNX_WITNESS: REFUSALS[refusal]}
    assert witnesses_disagree(outcomes(lanes))
    assert expected(outcomes(lanes)) is None
    for outcome in (WRONG, fakes.rejected(Stage.IMPORT), fakes.segfault(Stage.RUN)):
        assert verdicts({**lanes, TVM_MODEL: outcome}) == []


def test_a_witness_that_did_not_run_is_no_disagreement_and_confirms_nothing() -> None:
    lanes = {ONNX_WITNESS: fakes.NO_VERDICT["skipped"]}
    assert not witnesses_disagree(outcomes(lanes))
    assert expected(outcomes(lanes)) is None
    assert verdicts({**lanes, TVM_MODEL: fakes.rejected(Stage.IMPORT)}) == []


# --- what needs no values


@pytest.mark.parametrize("failure", fakes.FAILURES)
def test_a_lane_that_fails_is_blamed_whatever_numbers_the_witness_has(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    assert verdicts({ONNX_WITNESS: WRONG, TVM_MODEL: make(Stage.IMPORT)}) == [(kind, Component.TVM, TVM_MODEL)]


def test_an_ill_formed_module_is_found_whatever_numbers_the_witness_has() -> None:
    ran = Ran(fakes.correct(RIGHT).outputs, facts=Facts(ill_formed=IllFormed("import", "ValueError", "no")))
    assert verdicts({ONNX_WITNESS: WRONG, TVM_MODEL: ran}) == [(Kind.ILL_FORMED, Component.TVM, TVM_MODEL)]


def test_lanes_of_one_importer_are_not_compared_where_the_witness_disagrees() -> None:
    others = [LaneSpec(f"l{n}", TVM_MODEL.engine, TVM_MODEL.importer, target=f"t{n}") for n in range(3)]
    far = Ran((RIGHT[0].eager + np.float32(5), RIGHT[1].eager))
    lanes: dict[LaneSpec, Outcome] = {**dict.fromkeys(others, fakes.correct(RIGHT)), TVM_MODEL: far}
    without = {**lanes, ONNX_F64: fakes.raised(Stage.RUN)}
    assert verdicts(without) == [(Kind.WRONG_VALUE, Component.TVM, TVM_MODEL)]
    assert verdicts({**lanes, ONNX_WITNESS: WRONG}) == []


@pytest.mark.parametrize("facts", [Facts(modified=("x0",)), Facts(aliases=((0, "x0"),))])
def test_memory_of_the_caller_is_judged_against_onnxruntime(facts: Facts) -> None:
    ran = Ran(fakes.correct(RIGHT).outputs, facts=facts)
    (found,) = judge_all(CASE, outcomes({TVM_MODEL: ran}))
    assert (found.component, found.lane) == (Component.TVM, TVM_MODEL)
    assert (
        list(judge_all(CASE, outcomes({ONNX: Ran(tuple(r.eager for r in RIGHT), facts=facts), TVM_MODEL: ran}))) == []
    )


# --- failures of the references


@pytest.mark.parametrize("failure", fakes.FAILURES)
@pytest.mark.parametrize("lane", [ONNX_WITNESS, ONNX_F64, ONNX_ENVELOPE], ids=str)
def test_a_failure_of_the_interpreter_is_no_finding(lane: LaneSpec, failure: str) -> None:
    make, _ = fakes.FAILURES[failure]
    lanes = {lane: make(Stage.RUN), TVM_MODEL: WRONG}
    assert verdicts(lanes) == []
    assert witnesses_disagree(outcomes(lanes)) == (lane == ONNX_WITNESS)


@pytest.mark.parametrize("failure", fakes.FAILURES)
@pytest.mark.parametrize("stage", [Stage.LOAD, Stage.RUN])
def test_onnxruntime_decides_whether_a_case_is_valid(failure: str, stage: Stage) -> None:
    """Where it raises, the case is invalid: no other lane is blamed for that. Where it dies, that is its bug."""
    make, kind = fakes.FAILURES[failure]
    lanes: dict[LaneSpec, Outcome] = {ONNX: make(stage), TVM_MODEL: fakes.raised(Stage.IMPORT)}
    assert eager_run(outcomes(lanes)) is None
    assert not witnesses_disagree(outcomes(lanes))
    raises = failure in ("rejected", "internal error")
    assert verdicts(lanes) == ([] if raises else [(kind, Component.ONNXRUNTIME, ONNX)])
