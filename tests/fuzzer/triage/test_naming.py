"""The run that names a reduced case: the finding that is saved, and what blame need not run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from labs import FakeLab, WrongOutcome

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.triage.blame.context import BlameContext, traced_fully
from fuzzer.triage.naming import NamedFailure, name_failure
from fuzzer.triage.reproduce import observe
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

PLAIN = TVM_LANES[0]
FUSED = replace(PLAIN, name="fused", passes=("FuseOps",))
OTHER = TVM_LANES[2]
WRONG = Finding(Kind.WRONG_VALUE, Component.TVM, PLAIN, Stage.RUN, Mismatch(0, "1.0", "2.0"))
SIGNATURE = signature_of(WRONG)
RIGHT = (fakes.expect([1.0, -2.0]),)
WRONG_RESULT = fakes.nan(RIGHT)


def wrong_on(*wrong: LaneSpec) -> WrongOutcome:
    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return WRONG_RESULT if lane in wrong else None

    return wrong_outcome


def named(lab: FakeLab, lane: LaneSpec, *, traced: bool = True) -> NamedFailure:
    result = name_failure(lab.run, fakes.CASE, lane, SIGNATURE, traced=traced)
    assert result is not None
    return result


def test_what_the_naming_run_showed_of_its_lane_is_not_run_again() -> None:
    lab = FakeLab(wrong_on(PLAIN))
    found = named(lab, PLAIN)
    assert list(found.observed) == [PLAIN, traced_fully(PLAIN)]
    context = BlameContext(lab.run, fakes.CASE, found.finding, found.signature)
    for lane, observation in found.observed.items():
        context.remember(lane, observation)
    assert (context.traced().fails, context.observe(PLAIN, fully=True).fails) == (True, True)
    assert (context.runs, len(lab.ran)) == (0, 1)


def test_a_run_in_which_another_oracle_objects_first_tells_blame_nothing() -> None:
    """The plain sibling runs only when the finding is named: it is right, and the lane is then compared with it."""
    found = named(FakeLab(wrong_on(FUSED)), FUSED)
    assert (found.finding.lane, found.finding.kind, found.observed) == (FUSED, Kind.WRONG_VALUE, {})


def test_nothing_is_kept_for_blame_if_nothing_was_traced() -> None:
    assert named(FakeLab(wrong_on(PLAIN)), PLAIN, traced=False).observed == {}


@pytest.mark.parametrize("unstable", [PLAIN, OTHER])
def test_the_finding_is_that_of_the_lane_that_was_reduced(unstable: LaneSpec) -> None:
    """Another lane whose second run differs shows the failure too, but nobody has confirmed it there."""
    wrong = wrong_on(PLAIN, OTHER)

    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return fakes.unstable(RIGHT) if lane == unstable else wrong(case, lane, lanes)

    found = named(FakeLab(wrong_outcome), PLAIN)
    kind = Kind.SECOND_RUN_DIFFERS if unstable == PLAIN else Kind.WRONG_VALUE
    assert (found.finding.lane, found.finding.kind, found.signature.kind) == (PLAIN, kind, kind)
    assert found.lanes == (PLAIN, OTHER)


def ends_early(short: Outcome, whole: Outcome) -> RunLanes:
    """Runs in which PLAIN has one outcome where it ends after a stage, and another at its end."""

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = FakeLab(wrong_on()).run(case, lanes)
        own = {lane: short if lane.until else whole for lane in lanes if replace(lane, until=None) == PLAIN}
        return replace(result, outcomes={**result.outcomes, **own})

    return run


def test_lanes_end_with_a_failure_that_ends_them() -> None:
    whole = fakes.internal_error(Stage.IMPORT)
    short = replace(whole, message=f"{whole.message} in a lane that ends there")
    run = ends_early(short, whole)
    (sighted,) = observe(run, fakes.CASE, PLAIN).findings
    found = name_failure(run, fakes.CASE, PLAIN, signature_of(replace(sighted, evidence=short)))
    assert found is not None
    assert found.finding.evidence == short
