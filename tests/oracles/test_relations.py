"""Oracles that compare lanes with each other: with the plain sibling, with autograd, with all other lanes."""

from __future__ import annotations

import fakes
import numpy as np
import pytest
import violations
from fakes import CASE, TORCH, TORCH_F64, TVM, TVM_C, TVM_ONNX
from violations import (
    AGAIN,
    CORRECT_OUTCOMES,
    CORRECT_RUN,
    FOLDED,
    GRADIENT,
    JSON,
    LIBRARY,
    LIFTED,
    SCRIPT,
    SYMBOLIC,
    ZERO,
    shifted,
)

from oracles.agreement import agreement, odd_one_out
from oracles.finding import Component, Finding, Kind, Mismatch, Oracle, WorstElement
from oracles.fresh_process import fresh_process
from oracles.gradient_equals_autograd import gradient_equals_autograd
from oracles.lane import LaneSpec
from oracles.lifted_equals_unlifted import lifted_equals_unlifted
from oracles.outcome import Outcome, Ran, Stage
from oracles.passes_change_nothing import passes_change_nothing
from oracles.round_trips import round_trips
from oracles.symbolic_equals_static import symbolic_equals_static

BITS: list[tuple[Oracle, LaneSpec, str]] = [
    (fresh_process, AGAIN, "fresh"),
    (round_trips, SCRIPT, "ScriptRoundTrip"),
    (round_trips, JSON, "JsonRoundTrip"),
    (round_trips, LIBRARY, "library"),
]
PROGRAMS: list[tuple[Oracle, LaneSpec, str]] = [
    (passes_change_nothing, ZERO, "pipeline zero"),
    (passes_change_nothing, FOLDED, "FoldConstant, FuseOps"),
    (lifted_equals_unlifted, LIFTED, "parameters lifted"),
    (symbolic_equals_static, SYMBOLIC, "symbolic"),
]
EACH_BIT = pytest.mark.parametrize(("oracle", "lane", "adds"), BITS)
EACH_PROGRAM = pytest.mark.parametrize(("oracle", "lane", "adds"), PROGRAMS)


def changed(lane: LaneSpec, outcome: Outcome, **more: Outcome) -> dict[LaneSpec, Outcome]:
    return {**CORRECT_OUTCOMES, lane: outcome}


# --- identical to the sibling


@EACH_BIT
def test_a_difference_of_one_bit_is_found(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    other = violations.one_bit_off(CORRECT_RUN)
    one, two = float(CORRECT_RUN.outputs[0][0, 0]), float(other.outputs[0][0, 0])
    evidence = Mismatch(
        0,
        "relax-export-llvm's result",
        "1 of 4 elements differ",
        WorstElement((0, 0), one, two, 0.0, 0.0),
        4,
        1,
        against="relax-export-llvm",
        by=adds,
    )
    kind = Kind.NONDETERMINISTIC if lane is AGAIN else Kind.WRONG_VALUE
    assert list(oracle(CASE, changed(lane, other))) == [Finding(kind, Component.TVM, lane, Stage.RUN, evidence)]


@EACH_BIT
@pytest.mark.parametrize(
    ("outputs", "kind"),
    [
        (CORRECT_RUN.outputs[:1], Kind.WRONG_ARITY),
        ((CORRECT_RUN.outputs[0][None], CORRECT_RUN.outputs[1]), Kind.WRONG_SHAPE),
        ((CORRECT_RUN.outputs[0].astype(np.float64), CORRECT_RUN.outputs[1]), Kind.WRONG_DTYPE),
    ],
)
def test_another_number_shape_or_dtype_of_outputs_is_found(
    oracle: Oracle, lane: LaneSpec, adds: str, outputs: tuple[np.ndarray, ...], kind: Kind
) -> None:
    (finding,) = oracle(CASE, changed(lane, Ran(outputs)))
    assert finding.kind is (Kind.NONDETERMINISTIC if lane is AGAIN else kind)
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.against, finding.evidence.by) == ("relax-export-llvm", adds)


@EACH_BIT
def test_the_sign_of_zero_and_the_payload_of_nan_do_not_count(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    lanes = {TVM: Ran((np.array([0.0, np.nan]),)), lane: Ran((np.array([-0.0, -np.nan]),))}
    assert list(oracle(CASE, lanes)) == []


@EACH_BIT
def test_a_sibling_is_needed_and_references_are_not(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    assert len(list(oracle(CASE, {TVM: CORRECT_RUN, lane: violations.one_bit_off(CORRECT_RUN)}))) == 1
    assert list(oracle(CASE, {TVM_C: CORRECT_RUN, lane: violations.one_bit_off(CORRECT_RUN)})) == []
    assert list(oracle(CASE, {TVM: fakes.segfault(Stage.RUN), lane: violations.one_bit_off(CORRECT_RUN)})) == []
    assert list(oracle(CASE, {TVM: CORRECT_RUN, lane: fakes.raised(Stage.LOAD)})) == []


@EACH_BIT
def test_a_lane_with_a_wrong_sibling_is_not_judged(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    assert list(oracle(CASE, {**changed(lane, violations.one_bit_off(CORRECT_RUN)), TVM: violations.WRONG})) == []


# --- wrong where the sibling is right


@EACH_PROGRAM
@pytest.mark.parametrize("mistake", [name for name in fakes.WRONG_RESULTS if name != "unstable"])
def test_the_evidence_names_what_the_lane_adds(oracle: Oracle, lane: LaneSpec, adds: str, mistake: str) -> None:
    wrong, kind = fakes.WRONG_RESULTS[mistake]
    (finding,) = oracle(CASE, changed(lane, wrong(violations.RIGHT)))
    assert (finding.kind, finding.lane) == (kind, lane)
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.against, finding.evidence.by) == ("relax-export-llvm", adds)


@EACH_PROGRAM
@pytest.mark.parametrize("factor", [-0.99, 0.0, 0.99])
def test_any_result_within_the_tolerance_is_accepted(oracle: Oracle, lane: LaneSpec, adds: str, factor: float) -> None:
    rounded = Ran(tuple(fakes.within(right, factor) for right in violations.RIGHT))
    assert list(oracle(CASE, changed(lane, rounded))) == []


@EACH_PROGRAM
def test_a_wrong_lane_is_not_judged_without_a_right_sibling_and_every_reference(
    oracle: Oracle, lane: LaneSpec, adds: str
) -> None:
    lanes = changed(lane, violations.WRONG)
    assert list(oracle(CASE, {**lanes, TVM: violations.WRONG})) == []
    assert list(oracle(CASE, {**lanes, TORCH_F64: fakes.raised(Stage.RUN)})) == []
    assert list(oracle(CASE, {**lanes, TVM: fakes.raised(Stage.RUN)})) == []


# --- gradients


def test_a_wrong_gradient_is_found_by_comparison_with_autograd() -> None:
    slopes = fakes.correct(violations.VALUE_AND_GRADIENT).outputs
    wrong = (*slopes[:-1], slopes[-1] + 10)
    (finding,) = gradient_equals_autograd(CASE, changed(GRADIENT, Ran(wrong)))
    assert (finding.kind, finding.component) == (Kind.WRONG_VALUE, Component.TVM)
    assert isinstance(finding.evidence, Mismatch)
    assert finding.evidence.against == "torch.autograd"


def test_gradients_without_their_references_are_not_judged() -> None:
    lanes = changed(GRADIENT, fakes.wrong_value(violations.VALUE_AND_GRADIENT))
    for reference in violations.GRADIENT_REFERENCES:
        assert list(gradient_equals_autograd(CASE, {**lanes, reference: fakes.raised(Stage.RUN)})) == []


# --- lanes compared with all others


def votes(*runs: Ran) -> dict[LaneSpec, Outcome]:
    lanes = (TVM, TVM_C, ZERO, FOLDED)
    return {TORCH: fakes.raised(Stage.RUN) if not runs else CORRECT_RUN, **dict(zip(lanes, runs, strict=False))}


FAR = shifted(CORRECT_RUN, 0.5)


def test_the_one_lane_that_differs_is_found() -> None:
    (finding,) = agreement(CASE, votes(CORRECT_RUN, FAR, CORRECT_RUN))
    assert (finding.kind, finding.lane, finding.component) == (Kind.WRONG_VALUE, TVM_C, Component.TVM)
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.against, finding.evidence.wrong) == ("the other lanes", 4)


@pytest.mark.parametrize(
    "runs",
    [
        (CORRECT_RUN, FAR),
        (CORRECT_RUN, FAR, CORRECT_RUN, FAR),
        (CORRECT_RUN, FAR, shifted(CORRECT_RUN, -0.5)),
        (CORRECT_RUN, CORRECT_RUN, CORRECT_RUN),
        (CORRECT_RUN, shifted(CORRECT_RUN, 0.99 * 2.0**-11), shifted(CORRECT_RUN, -0.0)),
    ],
    ids=["only two", "two against two", "three different", "all equal", "half of the digits"],
)
def test_without_one_odd_lane_there_is_no_finding(runs: tuple[Ran, ...]) -> None:
    assert list(agreement(CASE, votes(*runs))) == []


def test_lanes_are_not_compared_with_each_other_where_there_is_a_reference() -> None:
    lanes = {**CORRECT_OUTCOMES, TVM_C: FAR}
    assert list(agreement(CASE, lanes)) == []


def test_lanes_are_not_compared_with_each_other_on_an_invalid_case() -> None:
    assert list(agreement(CASE, {**votes(CORRECT_RUN, FAR, CORRECT_RUN), TORCH: fakes.raised(Stage.RUN)})) == []


def test_only_lanes_of_one_importer_are_compared_with_each_other() -> None:
    lanes = {TORCH: CORRECT_RUN, TVM: CORRECT_RUN, TVM_ONNX: FAR, ZERO: CORRECT_RUN}
    assert list(agreement(CASE, lanes)) == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_may_differ_in_half_of_their_digits(dtype: str) -> None:
    one = fakes.expect([4.0, 1.0], dtype=dtype).eager
    half = {"float16": 2.0**-4, "bfloat16": 2.0**-4, "float32": 2.0**-11, "float64": 2.0**-26}[dtype]
    near, far = (np.asarray(one + np.asarray(4 * part * half).astype(one.dtype)) for part in (0.75, 2.0))
    assert odd_one_out({TVM: (one,), TVM_C: (near,), ZERO: (one,)}) is None
    found = odd_one_out({TVM: (one,), TVM_C: (far,), ZERO: (one,)})
    assert found is not None
    assert found[0] is TVM_C


@pytest.mark.parametrize(("odd", "caught"), [([1, 3], True), ([1, 2], False)])
def test_integers_are_exact(odd: list[int], caught: bool) -> None:
    group = {TVM: (np.array([1, 2]),), TVM_C: (np.array(odd),), ZERO: (np.array([1, 2]),)}
    assert (odd_one_out(group) is not None) is caught


def test_equal_empty_outputs_agree() -> None:
    empty = Ran((np.zeros((0, 2)),))
    assert list(agreement(CASE, votes(empty, empty, empty))) == []
