from __future__ import annotations

import fakes
import numpy as np
import pytest
import violations
from fakes import CASE, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64, TVM, TVM_C, TVM_ONNX, correct, expect, with_lanes

from oracles.against_torch import against_torch, comparable_results
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Outcomes, Ran, Stage
from oracles.reference import expected

RIGHT = fakes.TWO_OUTPUTS
CORRECT = correct(RIGHT)
WRONG = fakes.wrong_value(RIGHT)
WRONG_RESULTS = {name: wrong for name, wrong in fakes.WRONG_RESULTS.items() if name != "unstable"}
EACH_WRONG_RESULT = pytest.mark.parametrize("mistake", WRONG_RESULTS)


def judged(lanes: Outcomes) -> list[Finding]:
    return list(against_torch(CASE, with_lanes(RIGHT, lanes)))


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(finding.kind, finding.component, finding.lane) for finding in judged(lanes)]


# --- results of one lane


@EACH_WRONG_RESULT
def test_a_wrong_result_is_found(mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    assert verdicts({TVM: wrong(RIGHT)}) == [(kind, Component.TVM, TVM)]


@pytest.mark.parametrize("lane", [TVM, TVM_C, ONNXRUNTIME])
def test_a_correct_result_gives_no_finding(lane: LaneSpec) -> None:
    assert judged({lane: CORRECT}) == []


def test_wrong_results_of_every_dtype_are_found_and_correct_ones_are_not() -> None:
    right = fakes.ALL_DTYPES
    outcomes = with_lanes(right, {TVM: correct(right), TVM_C: fakes.wrong_value(right)})
    assert [finding.lane for finding in against_torch(CASE, outcomes)] == [TVM_C]


def test_integers_off_by_one_are_wrong() -> None:
    right = (expect([7, -3], dtype="int64"),)
    (finding,) = against_torch(CASE, with_lanes(right, {TVM: Ran((np.array([7, -2]),))}))
    assert (finding.kind, finding.component, finding.stage) == (Kind.WRONG_VALUE, Component.TVM, Stage.RUN)


def test_an_unstable_result_may_be_within_tolerance() -> None:
    assert judged({TVM: fakes.unstable(RIGHT)}) == []


def test_torch_lanes_are_not_judged() -> None:
    outcomes = {**fakes.references(*RIGHT), TORCH: WRONG}
    assert list(against_torch(CASE, outcomes)) == []


# --- evidence


@pytest.mark.parametrize(
    ("mistake", "evidence"),
    [
        ("missing output", Mismatch(0, "2 outputs", "1 outputs")),
        ("extra output", Mismatch(0, "2 outputs", "3 outputs")),
        ("wrong shape", Mismatch(0, "[2, 2]", "[1, 2, 2]")),
        ("wrong dtype", Mismatch(0, "float32", "float64")),
    ],
)
def test_evidence_of_a_wrong_number_shape_or_dtype_of_outputs(mistake: str, evidence: Mismatch) -> None:
    (finding,) = judged({TVM: WRONG_RESULTS[mistake][0](RIGHT)})
    assert finding == Finding(WRONG_RESULTS[mistake][1], Component.TVM, TVM, Stage.RUN, evidence)


def test_evidence_names_output_and_element() -> None:
    good, _ = CORRECT.outputs
    (finding,) = judged({TVM: Ran((good, np.array([7, 5])))})
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.output, finding.evidence.expected) == (1, "-3.0 at [1]")
    (finding,) = judged({TVM: WRONG})
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.output, finding.evidence.expected) == (0, "3.0 at [1, 1]")


F32 = RIGHT[0].eager
WRONG_F32 = F32 + 100


@pytest.mark.parametrize(
    ("outputs", "kind", "output"),
    [
        ((WRONG_F32,), Kind.WRONG_ARITY, 0),
        ((WRONG_F32, np.array([[7, -3]])), Kind.WRONG_VALUE, 0),
        ((F32.astype(np.float64), np.array([[7, -3]])), Kind.WRONG_SHAPE, 1),
        ((WRONG_F32, np.array([7, -3], np.int32)), Kind.WRONG_VALUE, 0),
        ((F32.astype(np.float64), np.array([7, 5])), Kind.WRONG_VALUE, 1),
        ((F32.astype(np.float64), np.array([7, -3])), Kind.WRONG_DTYPE, 0),
    ],
)
def test_the_worst_difference_is_reported(outputs: tuple[np.ndarray, ...], kind: Kind, output: int) -> None:
    (finding,) = judged({TVM: Ran(outputs)})
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.kind, finding.evidence.output) == (kind, output)


# --- lanes that import an ONNX file


@EACH_WRONG_RESULT
def test_tvm_is_at_fault_where_onnxruntime_agrees_with_pytorch(mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    assert verdicts({ONNXRUNTIME: CORRECT, TVM_ONNX: wrong(RIGHT)}) == [(kind, Component.TVM, TVM_ONNX)]


def test_a_wrong_file_excuses_only_the_lanes_that_read_it() -> None:
    assert verdicts({TVM: WRONG, TVM_ONNX: WRONG, ONNXRUNTIME: WRONG}) == [(Kind.WRONG_VALUE, Component.TVM, TVM)]


def test_a_file_is_right_where_the_interpreter_agrees_with_pytorch() -> None:
    lanes = {TVM_ONNX: WRONG, ONNXRUNTIME: WRONG, fakes.ONNX_REFERENCE: CORRECT}
    assert verdicts(lanes) == [(Kind.WRONG_VALUE, Component.TVM, TVM_ONNX)]


def test_gradients_are_not_compared_with_results() -> None:
    assert judged({violations.GRADIENT: WRONG}) == []


@pytest.mark.parametrize(
    "onnxruntime",
    [
        fakes.raised(Stage.RUN),
        fakes.segfault(Stage.RUN),
        fakes.hung(Stage.RUN),
        *fakes.NO_VERDICT.values(),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_lanes_that_import_onnx_are_not_judged_where_onnxruntime_has_no_result(onnxruntime: Outcome) -> None:
    assert verdicts({ONNXRUNTIME: onnxruntime, TVM_ONNX: WRONG, TVM: WRONG}) == [(Kind.WRONG_VALUE, Component.TVM, TVM)]


def test_lanes_that_import_onnx_are_not_judged_where_onnxruntime_did_not_run() -> None:
    assert judged({TVM_ONNX: WRONG}) == []


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ({TVM: WRONG, TVM_C: CORRECT, ONNXRUNTIME: WRONG}, [TVM, TVM_C, ONNXRUNTIME]),
        ({TVM: CORRECT, TVM_ONNX: CORRECT, ONNXRUNTIME: CORRECT}, [TVM, TVM_ONNX, ONNXRUNTIME]),
        ({TVM: CORRECT, TVM_ONNX: CORRECT, ONNXRUNTIME: WRONG}, [TVM, ONNXRUNTIME]),
        ({TVM: CORRECT, TVM_ONNX: CORRECT}, [TVM]),
        ({TVM: fakes.raised(Stage.RUN), ONNXRUNTIME: fakes.segfault(Stage.LOAD)}, []),
        ({TVM: CORRECT, TORCH_ENVELOPE: fakes.raised(Stage.RUN)}, []),
    ],
)
def test_which_results_are_comparable(lanes: Outcomes, expected: list[LaneSpec]) -> None:
    found = comparable_results(with_lanes(RIGHT, lanes))
    assert list(found) == expected
    assert all(found[lane] is lanes[lane].outputs for lane in expected)


# --- outcomes that are not judged


@pytest.mark.parametrize("outcome", [*fakes.NO_VERDICT.values(), fakes.raised(Stage.RUN), fakes.segfault(Stage.RUN)])
def test_only_results_are_judged(outcome: Outcome) -> None:
    assert judged({TVM: outcome}) == []


@pytest.mark.parametrize("lane", [TORCH, TORCH_F64, TORCH_ENVELOPE])
@pytest.mark.parametrize("times", [0, 3])
def test_a_reference_with_another_number_of_outputs_expects_nothing(lane: LaneSpec, times: int) -> None:
    """The memory of its process may have been overwritten."""
    lanes = with_lanes(RIGHT, {TVM: CORRECT})
    outcome = lanes[lane]
    assert isinstance(outcome, Ran)
    assert expected({**lanes, lane: Ran(times * outcome.outputs)}) is None


@pytest.mark.parametrize("missing", [TORCH, TORCH_F64, TORCH_ENVELOPE])
@pytest.mark.parametrize("instead", [None, fakes.raised(Stage.RUN), fakes.NO_VERDICT["skipped"]])
def test_no_lane_is_judged_where_a_reference_is_missing(missing: LaneSpec, instead: Outcome | None) -> None:
    outcomes = dict(with_lanes(RIGHT, {TVM: WRONG, ONNXRUNTIME: WRONG}))
    del outcomes[missing]
    if instead:
        outcomes[missing] = instead
    assert expected(outcomes) is None
    assert list(against_torch(CASE, outcomes)) == []


def test_expected_pairs_outputs_with_their_envelopes() -> None:
    found = expected(fakes.references(*fakes.ALL_DTYPES))
    assert found is not None
    for actual, wanted in zip(found, fakes.ALL_DTYPES, strict=True):
        for name in ("eager", "truth", "envelope", "ill"):
            np.testing.assert_array_equal(getattr(actual, name), getattr(wanted, name), strict=True)
