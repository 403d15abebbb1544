"""Decide which component is at fault for a failure on an ONNX file: TVM only where another reader confirms the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import numpy as np
import pytest
from fakes import CASE, ONNX_REFERENCE, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64, TVM, TVM_ONNX, with_lanes

from fuzzer.lanes import ONNX_READERS, needed, readers_of
from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from oracles.finding import Component, Kind
from oracles.judge import judge_all, unconfirmed_files
from oracles.lane import Engine, Importer, LaneSpec
from oracles.onnx_files import confirmed_files, refusal_of_its_file
from oracles.outcome import Facts, IllFormed, Outcome, Outcomes, Ran, Result, Stage, why_no_result

RIGHT = fakes.TWO_OUTPUTS
CORRECT = fakes.correct(RIGHT)
WRONG = fakes.wrong_value(RIGHT)
OPTIMISED = replace(ONNX_REFERENCE, name="onnxruntime-optimised", variant="optimised")
OTHER_OPSET = replace(ONNX_REFERENCE, name="onnx-reference-opset13", opset=13)
OPEN_SIZES = replace(ONNX_REFERENCE, name="onnx-reference-symbolic", symbolic=True)
OTHER_EXPORTER = replace(ONNX_REFERENCE, name="onnx-reference-dynamo", importer=Importer.ONNX_DYNAMO)
FAILURES = pytest.mark.parametrize("failure", fakes.FAILURES)
WRONG_RESULTS = {name: wrong for name, wrong in fakes.WRONG_RESULTS.items() if name != "unstable"}
HALF = (fakes.expect([1.0, -2.0], envelope=0.001, dtype="float16"),)


def tvms(lanes: Outcomes) -> list[tuple[Kind, LaneSpec]]:
    found = judge_all(CASE, with_lanes(RIGHT, lanes))
    return [(finding.kind, finding.lane) for finding in found if finding.component is Component.TVM]


# --- which readers confirm a file

UNCONFIRMED: dict[str, Outcomes] = {
    "no reader": {},
    "onnxruntime does not support bfloat16": {ONNXRUNTIME: fakes.NO_VERDICT["unsupported"]},
    "onnxruntime was not run": {ONNXRUNTIME: fakes.NO_VERDICT["skipped"]},
    "onnxruntime refuses it": {ONNXRUNTIME: fakes.raised(Stage.LOAD)},
    "onnxruntime fails on it": {ONNXRUNTIME: fakes.raised(Stage.RUN)},
    "onnxruntime dies of it": {ONNXRUNTIME: fakes.segfault(Stage.RUN)},
    "onnxruntime hangs": {ONNXRUNTIME: fakes.hung(Stage.RUN)},
    "the checker refuses it": {ONNX_REFERENCE: fakes.raised(Stage.LOAD)},
    "the interpreter fails on it": {ONNX_REFERENCE: fakes.raised(Stage.RUN)},
    "the interpreter dies of it": {ONNX_REFERENCE: fakes.segfault(Stage.RUN)},
    "onnxruntime reads it only when it optimises": {OPTIMISED: CORRECT, ONNX_REFERENCE: fakes.raised(Stage.RUN)},
    "another file is right": {OTHER_OPSET: CORRECT, OTHER_EXPORTER: CORRECT, OPEN_SIZES: CORRECT},
    **{f"the interpreter gives a {name}": {ONNX_REFERENCE: wrong(RIGHT)} for name, (wrong, _) in WRONG_RESULTS.items()},
}
CONFIRMED: dict[str, Outcomes] = {
    "onnxruntime runs it": {ONNXRUNTIME: CORRECT},
    "onnxruntime runs it and gives something else": {ONNXRUNTIME: WRONG},
    "the interpreter reads it as the model": {ONNX_REFERENCE: CORRECT},
    "the interpreter reads it, onnxruntime does not": {ONNX_REFERENCE: CORRECT, ONNXRUNTIME: fakes.raised(Stage.LOAD)},
}


@pytest.mark.parametrize("readers", UNCONFIRMED)
def test_a_file_that_no_reader_confirms_is_not_confirmed(readers: str) -> None:
    assert (Importer.ONNX, None, False) not in confirmed_files(with_lanes(RIGHT, UNCONFIRMED[readers]))


@pytest.mark.parametrize("readers", CONFIRMED)
def test_a_file_that_a_reader_confirms_is_confirmed(readers: str) -> None:
    assert confirmed_files(with_lanes(RIGHT, CONFIRMED[readers])) == {(Importer.ONNX, None, False)}


@pytest.mark.parametrize("missing", [TORCH, TORCH_F64, TORCH_ENVELOPE])
def test_without_every_reference_the_interpreter_confirms_nothing(missing: LaneSpec) -> None:
    outcomes = {**fakes.references(*RIGHT), ONNX_REFERENCE: CORRECT}
    del outcomes[missing]
    assert confirmed_files(outcomes) == frozenset()


REFUSED = {ONNX_REFERENCE: fakes.raised(Stage.LOAD), ONNXRUNTIME: fakes.NO_VERDICT["skipped"]}


@pytest.mark.parametrize(
    ("lanes", "is_refused"),
    [
        ({TVM_ONNX: fakes.raised(Stage.IMPORT), **REFUSED}, True),
        ({TVM_ONNX: CORRECT, **REFUSED}, False),
        ({TVM_ONNX: fakes.NO_VERDICT["unsupported"], **REFUSED}, False),
        ({TVM_ONNX: fakes.raised(Stage.IMPORT), **REFUSED, ONNXRUNTIME: CORRECT}, False),
        ({TVM_ONNX: fakes.raised(Stage.IMPORT), OTHER_EXPORTER: fakes.raised(Stage.LOAD)}, False),
    ],
)
def test_a_reader_refuses_the_file_and_none_runs_it(lanes: Outcomes, *, is_refused: bool) -> None:
    words = why_no_result(fakes.raised(Stage.LOAD)) if is_refused else ""
    assert refusal_of_its_file(TVM_ONNX, with_lanes(RIGHT, lanes)) == words


def test_a_lane_that_reads_no_file_has_no_such_words() -> None:
    lanes = {TVM: fakes.raised(Stage.IMPORT), **REFUSED}
    assert refusal_of_its_file(TVM, with_lanes(RIGHT, lanes)) == ""


# --- a file with open sizes is another file than the one with fixed sizes

OPEN_TVM = replace(TVM_ONNX, name="relax-onnx-dynamo-symbolic", importer=Importer.ONNX_DYNAMO, symbolic=True)
(OPEN_ONNXRUNTIME,) = [lane for lane in needed(OPEN_TVM) if lane.engine is Engine.ONNXRUNTIME]
OPEN_READERS = readers_of(OPEN_TVM)
FIXED_ONNXRUNTIME = replace(OPEN_ONNXRUNTIME, name="onnxruntime-dynamo", symbolic=False)
WRONG_SHAPE = fakes.wrong_shape(RIGHT)


def blamed_for(lanes: Outcomes) -> list[tuple[Component, Kind, LaneSpec]]:
    found = judge_all(CASE, with_lanes(RIGHT, {FIXED_ONNXRUNTIME: CORRECT, OPEN_TVM: WRONG_SHAPE, **lanes}))
    return [(finding.component, finding.kind, finding.lane) for finding in found]


def test_an_exporter_that_is_wrong_in_the_file_with_open_sizes_alone_is_at_fault() -> None:
    assert blamed_for({}) == [], "nobody has read the open file yet"
    wrong = {OPEN_ONNXRUNTIME: WRONG_SHAPE, **dict.fromkeys(OPEN_READERS, WRONG_SHAPE)}
    assert blamed_for(wrong) == [(Component.EXPORTER, Kind.WRONG_SHAPE, OPEN_ONNXRUNTIME)]
    right = {OPEN_ONNXRUNTIME: CORRECT, **dict.fromkeys(OPEN_READERS, CORRECT)}
    assert blamed_for(right) == [(Component.TVM, Kind.WRONG_SHAPE, OPEN_TVM)]


def test_readers_of_a_file_with_open_sizes_have_names_of_their_own() -> None:
    lanes = (OPEN_ONNXRUNTIME, *OPEN_READERS)
    assert all(lane.symbolic for lane in lanes)
    assert [lane.name for lane in lanes] == [
        "onnxruntime-dynamo-symbolic",
        "onnx-reference-dynamo-symbolic",
        "onnxruntime-optimised-dynamo-symbolic",
    ]


# --- the component at fault


@pytest.mark.parametrize("readers", UNCONFIRMED)
def test_tvm_is_not_at_fault_for_any_failure_on_an_unconfirmed_file(readers: str) -> None:
    stages = (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD, Stage.RUN)
    failures = [(name, stage, make(stage)) for name, (make, _) in fakes.FAILURES.items() for stage in stages]
    blamed = [(name, stage, tvms({**UNCONFIRMED[readers], TVM_ONNX: outcome})) for name, stage, outcome in failures]
    assert [row for row in blamed if row[-1] != []] == []


@pytest.mark.parametrize("readers", CONFIRMED)
def test_tvm_is_at_fault_for_every_failure_on_a_confirmed_file(readers: str) -> None:
    failures = fakes.FAILURES.items()
    found = {name: tvms({**CONFIRMED[readers], TVM_ONNX: make(Stage.IMPORT)}) for name, (make, _) in failures}
    assert found == {name: [(kind, TVM_ONNX)] for name, (_, kind) in failures}


SIDE_EFFECTS: dict[str, tuple[Outcome, Kind]] = {
    "ill-formed": (replace(CORRECT, facts=Facts(ill_formed=IllFormed("import", "E", "no"))), Kind.ILL_FORMED),
    "a changed input": (replace(CORRECT, facts=Facts(modified=("x0",))), Kind.MODIFIED_INPUT),
    "an output in an input's memory": (replace(CORRECT, facts=Facts(aliases=((0, "x0"),))), Kind.ALIASED_OUTPUT),
    "unstable": (fakes.unstable(RIGHT), Kind.SECOND_RUN_DIFFERS),
    "too large": (replace(CORRECT, facts=Facts(constant_bytes=1 << 20)), Kind.BLOAT),
}


@pytest.mark.parametrize("effect", SIDE_EFFECTS)
def test_findings_of_every_other_oracle_need_a_confirmed_file_too(effect: str) -> None:
    outcome, kind = SIDE_EFFECTS[effect]
    assert tvms({ONNXRUNTIME: fakes.NO_VERDICT["unsupported"], TVM_ONNX: outcome}) == []
    assert tvms({ONNX_REFERENCE: CORRECT, TVM_ONNX: outcome}) == [(kind, TVM_ONNX)]


@pytest.mark.parametrize("result", WRONG_RESULTS)
def test_what_another_reader_gives_too_does_not_follow_an_ill_formed_module(result: str) -> None:
    wrong, kind = WRONG_RESULTS[result]
    outcome = replace(wrong(RIGHT), facts=Facts(ill_formed=IllFormed("import", "E", "no")))
    for reading, follows in ((wrong(RIGHT), ""), (CORRECT, kind)):
        found = judge_all(CASE, with_lanes(RIGHT, {ONNXRUNTIME: CORRECT, ONNX_REFERENCE: reading, TVM_ONNX: outcome}))
        assert [each.evidence for each in found] == [IllFormed("import", "E", "no", follows)]


def test_what_a_file_costs_that_is_another_function_is_not_judged() -> None:
    """PyTorch's exporter may write a shape that it read from memory which nothing has written."""
    large = replace(WRONG, facts=Facts(constant_bytes=1 << 20))
    assert tvms({ONNXRUNTIME: WRONG, TVM_ONNX: large}) == []
    assert tvms({ONNXRUNTIME: CORRECT, TVM_ONNX: replace(CORRECT, facts=large.facts)}) == [(Kind.BLOAT, TVM_ONNX)]


@FAILURES
def test_lanes_that_read_no_file_need_no_confirmation(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    assert tvms({TVM: make(Stage.IMPORT), ONNXRUNTIME: fakes.raised(Stage.LOAD)}) == [(kind, TVM)]


def test_the_exporter_is_at_fault_for_a_file_that_no_reader_loads() -> None:
    found = judge_all(
        CASE, with_lanes(RIGHT, {ONNXRUNTIME: fakes.raised(Stage.LOAD), TVM_ONNX: fakes.rejected(Stage.IMPORT)})
    )
    assert [(f.kind, f.component, f.lane) for f in found] == [(Kind.REJECTED, Component.EXPORTER, ONNXRUNTIME)]


# --- wrong results that another reader gives too


@pytest.mark.parametrize("mistake", WRONG_RESULTS)
def test_tvm_is_not_at_fault_for_a_result_that_another_reader_gives_too(mistake: str) -> None:
    """An example is a file in float16, which onnxruntime computes in float32."""
    wrong, _ = WRONG_RESULTS[mistake]
    assert tvms({ONNXRUNTIME: CORRECT, ONNX_REFERENCE: wrong(RIGHT), TVM_ONNX: wrong(RIGHT)}) == []


@pytest.mark.parametrize("mistake", WRONG_RESULTS)
def test_tvm_is_at_fault_for_a_result_that_no_other_reader_gives(mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    other = fakes.wrong_shape if kind is not Kind.WRONG_SHAPE else fakes.wrong_dtype
    for reference in (CORRECT, other(RIGHT), fakes.raised(Stage.RUN)):
        assert tvms({ONNXRUNTIME: CORRECT, ONNX_REFERENCE: reference, TVM_ONNX: wrong(RIGHT)}) == [(kind, TVM_ONNX)]


@pytest.mark.parametrize(
    ("reference", "shared"),
    [
        (1.5, True),  # the same number
        (1.3, True),  # more than half of the way
        (1.7, True),
        (1.2, False),  # less than half of the way
        (0.5, False),  # off to the other side
        (np.nan, False),
    ],
)
def test_a_reader_excuses_a_wrong_number_where_it_is_at_least_half_as_far_off(reference: float, shared: bool) -> None:
    outcomes = with_lanes(
        HALF,
        {
            ONNXRUNTIME: fakes.correct(HALF),
            ONNX_REFERENCE: Ran((np.array([reference, -2.0], np.float16),)),
            TVM_ONNX: Ran((np.array([1.5, -2.0], np.float16),)),
        },
    )
    assert [f.lane for f in judge_all(CASE, outcomes)] == ([] if shared else [TVM_ONNX])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_reader_excuses_nan_and_infinity_only_where_it_gives_the_same(number: float) -> None:
    for given in (np.nan, np.inf, -np.inf, 7.0):
        outcomes = with_lanes(
            HALF,
            {
                ONNXRUNTIME: fakes.correct(HALF),
                ONNX_REFERENCE: Ran((np.array([given, -2.0], np.float16),)),
                TVM_ONNX: Ran((np.array([number, -2.0], np.float16),)),
            },
        )
        same = np.array_equal(given, number, equal_nan=True)
        assert [f.lane for f in judge_all(CASE, outcomes)] == ([] if same else [TVM_ONNX])


@pytest.mark.parametrize(("given", "shared"), [(5.0, True), (np.inf, False)])
def test_a_reader_excuses_a_number_in_place_of_infinity_only_where_it_has_one_too(given: float, shared: bool) -> None:
    """The reader is wrong in another element too, so that it is no witness for the model."""
    right = (fakes.expect([np.inf, -2.0], envelope=0.001, dtype="float16"),)
    outcomes = with_lanes(
        right,
        {
            ONNXRUNTIME: fakes.correct(right),
            ONNX_REFERENCE: Ran((np.array([given, 9.0], np.float16),)),
            TVM_ONNX: Ran((np.array([3.0, -2.0], np.float16),)),
        },
    )
    assert [f.lane for f in judge_all(CASE, outcomes)] == ([] if shared else [TVM_ONNX])


def test_a_reader_whose_result_has_another_shape_excuses_no_wrong_number() -> None:
    """It is wrong first in another result."""
    right = (
        fakes.expect([1.0, 1.0, 1.0], envelope=0.001, dtype="float16"),
        fakes.expect([1.0], envelope=0.001, dtype="float16"),
    )
    lane = (np.array([1, 1, 9], np.float16), np.ones(1, np.float16))
    reading = (np.ones(2, np.float16), np.array([7], np.float16))
    for reader in (reading, (np.ones(2, np.float16), np.ones(1, np.float16))):
        outcomes = with_lanes(
            right, {ONNXRUNTIME: fakes.correct(right), ONNX_REFERENCE: Ran(reader), TVM_ONNX: Ran(lane)}
        )
        assert [f.lane for f in judge_all(CASE, outcomes)] == [TVM_ONNX]


def test_tvm_is_at_fault_for_an_unstable_result_even_where_a_reader_is_unstable() -> None:
    lanes = {ONNXRUNTIME: CORRECT, ONNX_REFERENCE: fakes.unstable(RIGHT), TVM_ONNX: fakes.unstable(RIGHT)}
    assert tvms(lanes) == [(Kind.SECOND_RUN_DIFFERS, TVM_ONNX)]


# --- when the other readers run


@pytest.mark.parametrize(
    ("lanes", "needed"),
    [
        ({TVM_ONNX: CORRECT, ONNXRUNTIME: fakes.NO_VERDICT["unsupported"]}, False),  # nothing is wrong
        ({TVM_ONNX: fakes.rejected(Stage.IMPORT), ONNXRUNTIME: fakes.NO_VERDICT["unsupported"]}, True),
        ({TVM_ONNX: fakes.segfault(Stage.RUN), ONNXRUNTIME: fakes.raised(Stage.LOAD)}, True),
        ({TVM_ONNX: fakes.rejected(Stage.IMPORT)}, True),
        ({TVM_ONNX: fakes.rejected(Stage.IMPORT), ONNXRUNTIME: CORRECT}, False),  # onnxruntime has run it
        ({TVM_ONNX: WRONG, ONNXRUNTIME: CORRECT}, True),  # does another reader give the same?
        ({TVM_ONNX: fakes.raised(Stage.EXPORT), ONNXRUNTIME: fakes.raised(Stage.EXPORT)}, False),  # there is no file
        (
            {TVM_ONNX: fakes.rejected(Stage.IMPORT), ONNX_REFERENCE: fakes.raised(Stage.LOAD)},
            False,
        ),  # the interpreter has run already
        ({TVM: fakes.rejected(Stage.IMPORT)}, False),
    ],
)
def test_other_readers_run_where_tvm_would_be_blamed_for_an_unconfirmed_file(lanes: Outcomes, needed: bool) -> None:
    assert unconfirmed_files(CASE, with_lanes(RIGHT, lanes)) == ((TVM_ONNX,) if needed else ())


def test_other_readers_and_their_references_run_in_a_second_run() -> None:
    first: dict[LaneSpec, Outcome] = {
        TORCH: fakes.references(*RIGHT)[TORCH],
        ONNXRUNTIME: fakes.NO_VERDICT["unsupported"],
        TVM_ONNX: fakes.rejected(Stage.IMPORT),
    }
    runs: list[tuple[LaneSpec, ...]] = []

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        runs.append(tuple(lanes))
        both = {**fakes.references(*RIGHT), **dict.fromkeys(ONNX_READERS, CORRECT)}
        return Result(dict(first) if len(runs) == 1 else {lane: both[lane] for lane in runs[1]})

    result = judged_run(run, CASE, tuple(first))
    assert runs == [tuple(first), (TORCH_F64, TORCH_ENVELOPE, *ONNX_READERS)]
    assert [(f.kind, f.component) for f in judge_all(CASE, result.outcomes)] == [(Kind.REJECTED, Component.TVM)]


def test_a_finding_does_not_depend_on_the_dtypes_that_onnxruntime_supports() -> None:
    """When reduction removes an output of bfloat16, onnxruntime can read the file; the finding must stay."""
    before = {ONNXRUNTIME: fakes.NO_VERDICT["unsupported"], ONNX_REFERENCE: CORRECT}
    failure = {TVM_ONNX: fakes.internal_error(Stage.COMPILE)}
    found = [(Kind.INTERNAL_ERROR, TVM_ONNX)]
    assert tvms({**before, **failure}) == found
    for after in (CORRECT, fakes.raised(Stage.LOAD), fakes.raised(Stage.RUN), fakes.segfault(Stage.RUN)):
        assert tvms({**before, ONNXRUNTIME: after, **failure}) == found
