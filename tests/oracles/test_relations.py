"""Equations between lanes: bit for bit with the sibling, as right as the sibling, autograd, and the vote."""

from __future__ import annotations

import fakes
import numpy as np
import pytest
import violations
from fakes import CASE, TORCH, TORCH_F64, TVM, TVM_C, TVM_ONNX
from violations import (
    AGAIN,
    CORRECT_OUTCOMES,
    FOLDED,
    GRADIENT,
    JSON,
    LIBRARY,
    LIFTED,
    SAME,
    SCRIPT,
    SYMBOLIC,
    ZERO,
    nudged,
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


# --- bit for bit


@EACH_BIT
def test_one_bit_is_enough(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    other = violations.one_bit(SAME)
    one, two = float(SAME.outputs[0][0, 0]), float(other.outputs[0][0, 0])
    told = Mismatch(
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
    assert list(oracle(CASE, changed(lane, other))) == [Finding(kind, Component.TVM, lane, Stage.RUN, told)]


@EACH_BIT
@pytest.mark.parametrize(
    ("outputs", "kind"),
    [
        (SAME.outputs[:1], Kind.WRONG_ARITY),
        ((SAME.outputs[0][None], SAME.outputs[1]), Kind.WRONG_SHAPE),
        ((SAME.outputs[0].astype(np.float64), SAME.outputs[1]), Kind.WRONG_DTYPE),
    ],
)
def test_another_type_is_another_result(
    oracle: Oracle, lane: LaneSpec, adds: str, outputs: tuple[np.ndarray, ...], kind: Kind
) -> None:
    (finding,) = oracle(CASE, changed(lane, Ran(outputs)))
    assert finding.kind is (Kind.NONDETERMINISTIC if lane is AGAIN else kind)


@EACH_BIT
def test_zeros_and_nans_of_other_bits_are_the_same(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    lanes = {TVM: Ran((np.array([0.0, np.nan]),)), lane: Ran((np.array([-0.0, -np.nan]),))}
    assert list(oracle(CASE, lanes)) == []


@EACH_BIT
def test_it_needs_no_references_but_a_sibling(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    assert len(list(oracle(CASE, {TVM: SAME, lane: violations.one_bit(SAME)}))) == 1
    assert list(oracle(CASE, {TVM_C: SAME, lane: violations.one_bit(SAME)})) == []
    assert list(oracle(CASE, {TVM: fakes.segfault(Stage.RUN), lane: violations.one_bit(SAME)})) == []
    assert list(oracle(CASE, {TVM: SAME, lane: fakes.raised(Stage.LOAD)})) == []


@EACH_BIT
def test_beside_a_wrong_sibling_nothing_is_said(oracle: Oracle, lane: LaneSpec, adds: str) -> None:
    assert list(oracle(CASE, {**changed(lane, violations.one_bit(SAME)), TVM: violations.WRONG})) == []


# --- as right as the sibling


@EACH_PROGRAM
@pytest.mark.parametrize("mistake", [name for name in fakes.WRONG_RESULTS if name != "unstable"])
def test_what_the_lane_adds_is_named(oracle: Oracle, lane: LaneSpec, adds: str, mistake: str) -> None:
    wrong, kind = fakes.WRONG_RESULTS[mistake]
    (finding,) = oracle(CASE, changed(lane, wrong(violations.RIGHT)))
    assert (finding.kind, finding.lane) == (kind, lane)
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.against, finding.evidence.by) == ("relax-export-llvm", adds)


@EACH_PROGRAM
@pytest.mark.parametrize("factor", [-0.99, 0.0, 0.99])
def test_any_legal_rounding_is_forgiven(oracle: Oracle, lane: LaneSpec, adds: str, factor: float) -> None:
    rounded = Ran(tuple(fakes.within(right, factor) for right in violations.RIGHT))
    assert list(oracle(CASE, changed(lane, rounded))) == []


@EACH_PROGRAM
def test_wrong_beside_a_wrong_sibling_or_without_pytorch_is_left_to_others(
    oracle: Oracle, lane: LaneSpec, adds: str
) -> None:
    lanes = changed(lane, violations.WRONG)
    assert list(oracle(CASE, {**lanes, TVM: violations.WRONG})) == []
    assert list(oracle(CASE, {**lanes, TORCH_F64: fakes.raised(Stage.RUN)})) == []
    assert list(oracle(CASE, {**lanes, TVM: fakes.raised(Stage.RUN)})) == []


# --- gradients


def test_a_wrong_gradient_is_held_against_autograd() -> None:
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


# --- the vote


def votes(*runs: Ran) -> dict[LaneSpec, Outcome]:
    lanes = (TVM, TVM_C, ZERO, FOLDED)
    return {TORCH: fakes.raised(Stage.RUN) if not runs else SAME, **dict(zip(lanes, runs, strict=False))}


FAR = nudged(SAME, 0.5)


def test_who_stands_alone_is_named() -> None:
    (finding,) = agreement(CASE, votes(SAME, FAR, SAME))
    assert (finding.kind, finding.lane, finding.component) == (Kind.WRONG_VALUE, TVM_C, Component.TVM)
    assert isinstance(finding.evidence, Mismatch)
    assert (finding.evidence.against, finding.evidence.wrong) == ("the other lanes", 4)


@pytest.mark.parametrize(
    "runs",
    [
        (SAME, FAR),
        (SAME, FAR, SAME, FAR),
        (SAME, FAR, nudged(SAME, -0.5)),
        (SAME, SAME, SAME),
        (SAME, nudged(SAME, 0.99 * 2.0**-11), nudged(SAME, -0.0)),
    ],
    ids=["two", "a draw", "everybody another", "all", "half the digits"],
)
def test_without_a_clear_vote_nobody_is(runs: tuple[Ran, ...]) -> None:
    assert list(agreement(CASE, votes(*runs))) == []


def test_where_pytorch_can_judge_nobody_votes() -> None:
    lanes = {**CORRECT_OUTCOMES, TVM_C: FAR}
    assert list(agreement(CASE, lanes)) == []


def test_an_invalid_case_is_not_voted_on() -> None:
    assert list(agreement(CASE, {**votes(SAME, FAR, SAME), TORCH: fakes.raised(Stage.RUN)})) == []


def test_only_lanes_of_one_importer_vote_together() -> None:
    lanes = {TORCH: SAME, TVM: SAME, TVM_ONNX: FAR, ZERO: SAME}
    assert list(agreement(CASE, lanes)) == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_half_of_the_digits_of_each_dtype(dtype: str) -> None:
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


def test_honest_and_empty() -> None:
    empty = Ran((np.zeros((0, 2)),))
    assert list(agreement(CASE, votes(empty, empty, empty))) == []
