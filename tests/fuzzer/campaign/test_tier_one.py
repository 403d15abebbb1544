"""What tier 1 says of an importer, and what is left of it for the oracles."""

from __future__ import annotations

from dataclasses import replace

import fakes
import numpy as np
import pytest
from fakes import ONNXRUNTIME, TWO_OUTPUTS

from fuzzer.campaign.test.tier_one import ImportVerdict, evaluation_disagrees, on_plain_lanes, references, verdicts
from fuzzer.lanes import (
    EVALUATED_LANES,
    REFERENCES,
    SCREENING,
    TORCH_LANES,
    lanes_of,
    plain_of,
)
from oracles.finding import Kind
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec
from oracles.outcome import (
    Built,
    Cause,
    Died,
    Facts,
    IllFormed,
    Outcome,
    Raised,
    Ran,
    Result,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
)
from oracles.trace import Trace

EXPORT, ONNX = EVALUATED_LANES[:2]
RIGHT = fakes.correct(TWO_OUTPUTS)
WRONG = fakes.missing_output(TWO_OUTPUTS)
BROKEN = Facts(ill_formed=IllFormed("import", "E", "no"), checked=("import",))
OUTSIDE = Facts(trace=Trace(outside="take asks for elements that are not there"))
CONTRADICTION = Facts(trace=Trace(contradiction="relax.add is declared as [3], and by its definition it is [2]"))
OTHER_TYPES = Facts(trace=Trace(other_types="1 results are declared, and the graph has 2"))


def with_references(outcomes: dict[LaneSpec, Outcome]) -> dict[LaneSpec, Outcome]:
    return {**fakes.references(*TWO_OUTPUTS), **outcomes}


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (RIGHT, ImportVerdict.RIGHT),
        (WRONG, ImportVerdict.WRONG),
        (replace(RIGHT, facts=BROKEN), ImportVerdict.FAILED),
        (Built(), ImportVerdict.UNDECIDED),
        (Built(BROKEN), ImportVerdict.FAILED),
        (Built(OUTSIDE), ImportVerdict.WRONG),
        (Built(CONTRADICTION), ImportVerdict.WRONG),
        (Built(OTHER_TYPES), ImportVerdict.WRONG),
        (Raised(Stage.IMPORT, "E", "no"), ImportVerdict.FAILED),
        (Died(Stage.EXPORT, Cause.SIGNAL, 11), ImportVerdict.FAILED),
        (Unsupported(Stage.IMPORT, "no"), ImportVerdict.FAILED),
        (Skipped("no"), ImportVerdict.FAILED),
        (Raised(Stage.RUN, "E", "no"), ImportVerdict.UNDECIDED),
        (Died(Stage.RUN, Cause.SIGNAL, 11), ImportVerdict.UNDECIDED),
        (TimedOut(Stage.RUN, 60.0), ImportVerdict.UNDECIDED),
    ],
    ids=str,
)
def test_verdicts(outcome: Outcome, verdict: ImportVerdict) -> None:
    assert verdicts(with_references({EXPORT: outcome})) == {EXPORT: verdict}


def test_nothing_is_decided_without_a_reference() -> None:
    assert verdicts({EXPORT: WRONG}) == {EXPORT: ImportVerdict.UNDECIDED}


def test_a_file_that_is_another_function_than_the_model_says_nothing_about_tvm() -> None:
    unread = Skipped("onnxruntime does not accept numpy arrays of bfloat16")
    for reader, verdict in (
        (RIGHT, ImportVerdict.WRONG),
        (WRONG, ImportVerdict.UNDECIDED),
        (unread, ImportVerdict.WRONG),
    ):
        for evaluated in (WRONG, Built(OTHER_TYPES)):
            outcomes = with_references({ONNXRUNTIME: reader, ONNX: evaluated})
            assert verdicts(outcomes) == {ONNX: verdict}


def test_each_importer_has_a_plain_lane() -> None:
    assert [plain_of(lane) for lane in EVALUATED_LANES[:2]] == list(SCREENING)
    assert {plain_of(lane).importer for lane in EVALUATED_LANES} == {lane.importer for lane in EVALUATED_LANES}
    own = {lane: lanes_of(lane.dialect) for lane in EVALUATED_LANES}
    assert all(plain_of(lane) in (*lanes.plain, *lanes.sampled) for lane, lanes in own.items())
    assert plain_of(replace(EXPORT, toolchain="tvm-0.26.0")) == replace(SCREENING[0], toolchain="tvm-0.26.0")


def test_each_lane_has_the_references_that_judge_its_numbers() -> None:
    assert references((EXPORT,)) == TORCH_LANES, "PyTorch runs the exported program only where there is doubt"
    assert references((EXPORT, ONNX)) == REFERENCES
    (dynamo,) = [lane for lane in EVALUATED_LANES if lane.importer is Importer.ONNX_DYNAMO]
    assert [lane.name for lane in references((dynamo,))] == [*(lane.name for lane in TORCH_LANES), "onnxruntime-dynamo"]


def test_failures_are_those_of_plain_lanes_and_no_numbers_are_left() -> None:
    refused, facts = Raised(Stage.IMPORT, "E", "no"), Facts(checked=("import",), behaviour=("relax relax.add",))
    outcomes = with_references({EXPORT: refused, ONNX: replace(WRONG, facts=replace(facts, peak_bytes=7))})
    result = on_plain_lanes(Result(outcomes, {Stage.EXPORT: 0.5}, 1.5))
    assert result.outcomes == with_references({SCREENING[0]: refused, ONNX: Built(facts)})
    assert (result.stage_cpu, result.cpu_seconds) == ({Stage.EXPORT: 0.5}, 1.5)
    (finding,) = judge_all(fakes.CASE, result.outcomes)
    assert (finding.kind, finding.lane, finding.evidence) == (Kind.INTERNAL_ERROR, SCREENING[0], refused)


def test_an_ill_formed_module_is_a_finding_of_the_plain_lane() -> None:
    result = on_plain_lanes(Result(with_references({EXPORT: replace(WRONG, facts=BROKEN)})))
    assert result.outcomes == with_references({SCREENING[0]: Built(BROKEN)})
    assert [(f.kind, f.lane) for f in judge_all(fakes.CASE, result.outcomes)] == [(Kind.ILL_FORMED, SCREENING[0])]


@pytest.mark.parametrize(
    ("evaluated", "compiled", "disagree"),
    [
        (WRONG, RIGHT, True),
        (WRONG, WRONG, False),
        (RIGHT, RIGHT, False),
        (WRONG, Raised(Stage.COMPILE, "E", "no"), False),
        (Built(OUTSIDE), RIGHT, False),
        (Built(OTHER_TYPES), RIGHT, False),
        (Built(CONTRADICTION), RIGHT, True),
        (Built(CONTRADICTION), WRONG, False),
        (Built(), RIGHT, False),
        (Raised(Stage.RUN, "AttributeError", "no"), Skipped("the lane was not chosen"), True),
        (Raised(Stage.IMPORT, "AttributeError", "no"), RIGHT, False),
    ],
    ids=[
        *("wrong-right", "both-wrong", "both-right", "failed", "outside", "types", "shape", "both-shapes", "undecided"),
        *("raised", "raised-by-the-importer"),
    ],
)
def test_an_evaluation_that_compiled_code_contradicts_is_counted(
    evaluated: Outcome, compiled: Outcome, disagree: bool
) -> None:
    tier_1, outcomes = with_references({EXPORT: evaluated}), with_references({SCREENING[0]: compiled})
    found = evaluation_disagrees(tier_1, outcomes)
    assert found == ((SCREENING[0],) if disagree else ())


def test_values_that_may_differ_are_right() -> None:
    near = Ran(tuple(np.array(array) for array in RIGHT.outputs))
    assert verdicts(with_references({EXPORT: near})) == {EXPORT: ImportVerdict.RIGHT}
