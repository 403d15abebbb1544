"""Only what fails with the pass, and not without it, is a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import fakes
import pytest
from fakes import CASE, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64, correct
from labs import FakeLab

from fuzzer.api.pass_lab import WITHOUT_PASS, PassLab
from fuzzer.campaign.plan.own_lanes import PLAIN, own_lanes
from fuzzer.triage.reproduce import judged_by
from generators.graph import Case
from oracles.finding import Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Raised, Ran, Result, Stage

(OWN,) = own_lanes("p")
RAISES = Raised(Stage.TRANSFORM, "ValueError", "no")
"""Without frames: an internal error of the stage."""


def lab(outcomes: Mapping[LaneSpec, Outcome]) -> tuple[PassLab, FakeLab]:
    inner = FakeLab(lambda case, lane, lanes: outcomes.get(lane))
    return PassLab(inner), inner


def test_a_failure_of_the_pass_stays_one_and_the_lane_without_it_runs_once() -> None:
    outer, inner = lab({OWN: RAISES})
    outcomes = outer.run(CASE, (TORCH, OWN)).outcomes
    assert outcomes[OWN] == RAISES
    assert set(outcomes) == {TORCH, OWN}
    assert [lanes for _, lanes in inner.ran] == [(OWN,), (PLAIN,)]
    assert [finding.kind for finding in judge_all(CASE, outcomes)] == [Kind.INTERNAL_ERROR]


def test_what_fails_without_the_pass_too_is_no_failure() -> None:
    compiles_not = replace(RAISES, stage=Stage.COMPILE, message="another message")
    outer, inner = lab({OWN: RAISES, PLAIN: compiles_not})
    outcomes = outer.run_fresh(CASE, (TORCH, OWN)).outcomes
    assert outcomes[OWN] == WITHOUT_PASS
    assert inner.fresh == [0, 1]
    assert list(judge_all(CASE, outcomes)) == []


def test_where_the_pass_is_right_no_other_lane_runs() -> None:
    outer, inner = lab({})
    assert isinstance(outer.run(CASE, (TORCH, OWN)).outcomes[OWN], Ran)
    assert [lanes for _, lanes in inner.ran] == [(OWN,)]


def test_a_lane_without_the_pass_has_no_failure() -> None:
    """It is wrong in a way that the lane with the pass is not: the pass has removed what fails."""
    outer, _ = lab({PLAIN: RAISES})
    outcomes = outer.run(CASE, (TORCH, PLAIN, OWN)).outcomes
    assert outcomes[PLAIN] == WITHOUT_PASS
    assert isinstance(outcomes[OWN], Ran)


@pytest.mark.parametrize("plain_is_wrong", [False, True])
def test_wrong_values_count_where_they_are_right_without_the_pass(plain_is_wrong: bool) -> None:
    right = tuple(fakes.expect([1.0, -2.0]) for _ in CASE.graph.outputs)
    wrong = Ran(tuple(array + 1 for array in correct(right).outputs))
    outer, _ = lab({OWN: wrong, **({PLAIN: wrong} if plain_is_wrong else {})})
    outcomes = outer.run(CASE, judged_by(OWN)).outcomes
    found = [(finding.lane, finding.kind) for finding in judge_all(CASE, outcomes)]
    assert found == ([] if plain_is_wrong else [(OWN, Kind.WRONG_VALUE)])


def test_a_lane_that_is_wrong_without_the_pass_accuses_it_of_nothing() -> None:
    """The pass raises, which is confirmed without the references of values and up to the failing stage."""
    wrong = Ran(tuple(fakes.correct((fakes.expect([1.0, -2.0]),)).outputs[0] + 1 for _ in CASE.graph.outputs))
    early = replace(OWN, until=Stage.COMPILE)
    outer, inner = lab({OWN: RAISES, PLAIN: wrong})
    assert outer.run(CASE, (TORCH, early)).outcomes[early] == WITHOUT_PASS
    assert [lanes for _, lanes in inner.ran] == [(OWN,), (PLAIN,)]


def test_onnxruntime_does_not_run() -> None:
    requested: list[LaneSpec] = []

    class Recording(FakeLab):
        def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
            requested.extend(lanes)
            return super().run(case, lanes)

    lanes = (TORCH, TORCH_F64, TORCH_ENVELOPE, ONNXRUNTIME, OWN)
    outcomes = PassLab(Recording(lambda case, lane, lanes: None)).run(CASE, lanes).outcomes
    assert outcomes[ONNXRUNTIME] == WITHOUT_PASS
    assert requested == [TORCH, TORCH_F64, TORCH_ENVELOPE, OWN]
