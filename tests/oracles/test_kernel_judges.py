"""TVM is blamed for what a driver of kernels shows only where a second judge confirms it."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from fakes import CASE, TORCH_ENVELOPE, TVM, TVM_C, with_lanes

from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from oracles.finding import Component, Kind
from oracles.judge import judge_all, judges_of_kernels
from oracles.kernel_judges import second_judges
from oracles.lane import SCHEDULES, LaneSpec
from oracles.outcome import Built, Outcome, Outcomes, Ran, Result, Skipped, Stage

RIGHT = fakes.TWO_OUTPUTS
CORRECT = fakes.correct(RIGHT)
WRONG = fakes.wrong_value(RIGHT)
WRONG_SCHEDULE = fakes.raised(Stage.COMPILE, "fuzzer.lanes.schedules.WrongSchedule")

OPENCL = replace(TVM, name="relax-export-opencl", target="opencl")
WEBGPU = replace(TVM, name="relax-export-webgpu", target="webgpu")
LOOPS = replace(OPENCL, name="relax-export-schedules-opencl", variant=SCHEDULES)


def envelope_for(target: str, factor: float) -> dict[LaneSpec, Outcome]:
    """An envelope for a target that is `factor` times as wide."""
    lane = replace(TORCH_ENVELOPE, name=f"torch-envelope-{target}", target=target)
    return {lane: Ran((*(right.envelope * factor for right in RIGHT), *(right.ill for right in RIGHT)))}


ENVELOPES = envelope_for("opencl", 1.0) | envelope_for("webgpu", 1.0)


def judges(
    llvm: Outcome = CORRECT,
    c: Outcome = CORRECT,
    webgpu: Outcome = CORRECT,
    loops: Outcome = Built(),
    envelopes: Outcomes = ENVELOPES,
) -> Outcomes:
    return {TVM: llvm, TVM_C: c, WEBGPU: webgpu, LOOPS: loops, **envelopes}


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component]]:
    found = judge_all(CASE, with_lanes(RIGHT, lanes))
    return [(finding.kind, finding.component) for finding in found if finding.lane == OPENCL]


@pytest.mark.parametrize(
    ("lanes", "component"),
    [
        (judges(), Component.POCL),
        (judges(webgpu=WRONG), Component.TVM),
        (judges(llvm=WRONG), Component.TVM),
        (judges(c=WRONG), Component.TVM),
        (judges(c=Skipped("no gcc", environment=True)), Component.POCL),
        (judges(loops=WRONG_SCHEDULE), Component.TVM),
        (judges(webgpu=fakes.segfault(Stage.RUN)), Component.POCL),
        (judges(webgpu=fakes.raised(Stage.COMPILE)), Component.POCL),
        (judges(loops=fakes.raised(Stage.COMPILE, "tvm.error.InternalError")), Component.POCL),
    ],
)
def test_who_is_at_fault_for_a_wrong_value(lanes: Outcomes, component: Component) -> None:
    assert verdicts({OPENCL: WRONG, **lanes}) == [(Kind.WRONG_VALUE, component)]


def test_the_driver_of_webgpu_is_lavapipe() -> None:
    loops = {replace(LOOPS, target="webgpu"): Built()}
    lanes = {WEBGPU: WRONG, OPENCL: CORRECT, TVM: CORRECT, TVM_C: CORRECT, **loops, **ENVELOPES}
    assert [each.component for each in judge_all(CASE, with_lanes(RIGHT, lanes))] == [Component.LAVAPIPE]


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (fakes.segfault(Stage.RUN), Kind.DIED),
        (fakes.segfault(Stage.LOAD), Kind.DIED),
        (fakes.hung(Stage.RUN), Kind.TIMED_OUT),
        (fakes.unstable(RIGHT), Kind.SECOND_RUN_DIFFERS),
    ],
)
def test_other_failures_of_a_driver_need_no_envelope(outcome: Outcome, kind: Kind) -> None:
    alone = judges(envelopes={})
    assert verdicts({OPENCL: outcome, **alone}) == [(kind, Component.POCL)]
    assert verdicts({OPENCL: outcome, **alone, WEBGPU: outcome}) == [(kind, Component.TVM)]


@pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.COMPILE, Stage.LOAD])
def test_no_judge_is_needed_for_what_no_driver_does(stage: Stage) -> None:
    """A driver's compiler that refuses a text of TVM is as good a judge as any other compiler."""
    lanes = {OPENCL: fakes.internal_error(stage)}
    assert judges_of_kernels(CASE, with_lanes(RIGHT, lanes)) == ()
    assert [component for _, component in verdicts(lanes)] == [Component.TVM]


@pytest.mark.parametrize("missing", [TVM, TVM_C, WEBGPU, LOOPS, *ENVELOPES])
def test_nobody_is_blamed_before_all_judges_have_run(missing: LaneSpec) -> None:
    lanes = {OPENCL: WRONG, **judges()}
    assert verdicts({lane: outcome for lane, outcome in lanes.items() if lane != missing}) == []


@pytest.mark.parametrize(("factor", "found"), [(1.0, [(Kind.WRONG_VALUE, Component.POCL)]), (1000.0, [])])
def test_numbers_are_judged_by_the_envelope_of_the_target(factor: float, found: list[tuple[Kind, Component]]) -> None:
    envelopes = envelope_for("opencl", factor) | envelope_for("webgpu", 1.0)
    assert verdicts({OPENCL: WRONG, **judges(envelopes=envelopes)}) == found


def test_an_envelope_that_could_not_be_measured_blames_nobody() -> None:
    envelopes = {lane: fakes.hung(Stage.RUN) for lane in ENVELOPES}
    assert verdicts({OPENCL: WRONG, **judges(envelopes=envelopes)}) == []


def test_the_judges_run_where_a_driver_fails_and_only_those_that_did_not_run() -> None:
    runs: list[tuple[LaneSpec, ...]] = []

    def run(case: Case, lanes: tuple[LaneSpec, ...]) -> Result:
        runs.append(tuple(lanes))
        first = with_lanes(RIGHT, {OPENCL: WRONG, TVM: CORRECT})
        known = {**first, **ENVELOPES}
        return Result({lane: known.get(lane, CORRECT) for lane in lanes})

    result = judged_run(run, CASE, (*with_lanes(RIGHT, {}), OPENCL, TVM))  # type: ignore[arg-type]
    _, for_c, on_webgpu, loops = second_judges(OPENCL)
    assert runs[1] == (fakes.EXPORTED, for_c, on_webgpu, loops, *ENVELOPES)
    (finding,) = judge_all(CASE, result.outcomes)
    assert (finding.lane, finding.component) == (OPENCL, Component.POCL)


@pytest.mark.parametrize(
    ("name", "judges"),
    [
        ("relax-export-opencl", "relax-export-llvm relax-export-c relax-export-webgpu relax-export-schedules-opencl"),
        ("drawn", "drawn-llvm drawn-c drawn-webgpu drawn-schedules-opencl"),
    ],
)
def test_judges_have_the_names_of_lanes_that_are_in_the_table(name: str, judges: str) -> None:
    assert " ".join(map(str, second_judges(replace(OPENCL, name=name)))) == judges


def test_a_right_lane_needs_no_judges() -> None:
    assert judges_of_kernels(CASE, with_lanes(RIGHT, {OPENCL: CORRECT, WEBGPU: CORRECT})) == ()
