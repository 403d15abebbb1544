from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import CASE, ONNXRUNTIME, TORCH, TORCH_F64, TVM, TVM_C, TVM_ONNX
from violations import (
    AGAIN,
    CORRECT_OUTCOMES,
    FOLDED,
    GRADIENT,
    JSON,
    LIBRARY,
    LIFTED,
    MUTANTS,
    SCRIPT,
    SYMBOLIC,
    VIOLATIONS,
    WRONG,
    ZERO,
)

from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.signature import Signature, signature_of
from fuzzer.triage.investigate import sightings
from fuzzer.triage.naming import beyond_sibling
from fuzzer.triage.reproduce import judged_by
from oracles.finding import Component, Kind, Mismatch
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran, Stage
from oracles.sibling_pairs import pairs_with_siblings
from oracles.siblings import changes_program, describe_additions, sibling

WITH_SIBLING = [
    ZERO,
    FOLDED,
    SCRIPT,
    JSON,
    LIBRARY,
    AGAIN,
    LIFTED,
    SYMBOLIC,
]
OTHERS = [
    replace(TVM, name="a", opt_level=0),
    replace(TVM, name="b", target="llvm-O0"),
    replace(TVM, name="c", asserts=False, checked=True, fresh=True),
]


@pytest.mark.parametrize("lane", [*WITH_SIBLING, *OTHERS], ids=str)
def test_the_sibling_is_the_plain_lane_of_the_same_importer_and_target(lane: LaneSpec) -> None:
    lanes = [TORCH, ONNXRUNTIME, lane, TVM_ONNX, TVM_C, MUTANTS, TVM]
    assert sibling(lane, lanes) == TVM
    assert sibling(replace(lane, target="c", opt_level=1), lanes) == TVM_C
    assert sibling(lane, [TORCH, TVM_ONNX, TVM_C]) is None


@pytest.mark.parametrize(
    "lane",
    [TVM, TVM_C, TVM_ONNX, ONNXRUNTIME, TORCH, GRADIENT, MUTANTS, replace(TVM, name="x")],
    ids=str,
)
def test_plain_lanes_and_lanes_of_other_programs_have_no_sibling(lane: LaneSpec) -> None:
    assert sibling(lane, [TVM, TVM_C, TVM_ONNX, lane]) is None


def test_which_siblings_the_sampled_lanes_have() -> None:
    lanes = [lane for lane in SAMPLED_LANES if lane.variant == "relax"]
    found = {
        lane.importer: {sibling(other, TVM_LANES) for other in lanes if other.importer is lane.importer}
        for lane in lanes
    }
    # no sibling: the plain lane itself, with its argument checks, and the only lanes of their target families
    assert found.pop(Importer.EXPORT) == {TVM_LANES[0], TVM_LANES[2], None}
    assert found.pop(Importer.ONNX) == {TVM_LANES[1], None}  # a file of another opset is another program
    assert set(map(frozenset, found.values())) == {frozenset({None})}


def test_the_fields_of_a_lane_decide_what_it_adds() -> None:
    texts = [describe_additions(lane) for lane in (*WITH_SIBLING, *OTHERS[:2], TVM)]
    assert texts == [
        "pipeline zero",
        "FoldConstant, FuseOps",
        "ScriptRoundTrip",
        "JsonRoundTrip",
        "library",
        "fresh",
        "parameters lifted",
        "symbolic",
        "opt_level 0",
        "target llvm-O0",
        "",
    ]


def test_which_lanes_change_the_program() -> None:
    assert [changes_program(lane) for lane in WITH_SIBLING] == [True, True, False, False, False, False, True, True]
    assert all(map(changes_program, OTHERS[:2]))


def test_a_lane_is_not_paired_with_a_wrong_sibling() -> None:
    outcomes = CORRECT_OUTCOMES
    assert next(pairs_with_siblings(outcomes, lambda lane: lane == LIBRARY))[1] == (TVM, outcomes[TVM])
    for outcome in (WRONG, Ran(WRONG.outputs[:1])):
        assert list(pairs_with_siblings({**outcomes, TVM: outcome}, lambda lane: True)) == []


def test_a_lane_and_its_sibling_that_are_both_wrong_have_one_signature() -> None:
    """Both are compared with PyTorch, so both have the same coarse signature."""
    lanes = {
        **CORRECT_OUTCOMES,
        **dict.fromkeys((TVM, ZERO, LIBRARY, AGAIN), WRONG),
    }
    found = {finding.lane: signature_of(finding) for finding in judge_all(CASE, lanes)}
    assert set(found) == {TVM, ZERO, LIBRARY, AGAIN}
    assert set(found.values()) == {Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN)}


def test_a_lane_that_is_wrong_beside_a_right_sibling_has_a_signature_of_its_own() -> None:
    lanes = {**CORRECT_OUTCOMES, **dict.fromkeys((ZERO, LIFTED), WRONG)}
    found = list(judge_all(CASE, lanes))
    assert {signature_of(finding).against for finding in found} == {"its plain sibling"}
    assert [(beyond_sibling(each.finding), each.lanes) for each in sightings(found)] == [
        ("pipeline zero", (ZERO,)),
        ("parameters lifted", (LIFTED,)),
    ]
    for finding in found:
        assert isinstance(finding.evidence, Mismatch)
        assert finding.evidence.worst is not None
        assert finding.evidence.worst.truth is not None


def test_without_the_truth_only_results_that_must_be_identical_are_compared() -> None:
    lanes = {**VIOLATIONS["round_trips"].outcomes, ZERO: WRONG}
    del lanes[TORCH_F64]
    assert [finding.lane for finding in judge_all(CASE, lanes)] == [SCRIPT]


def test_a_lane_runs_together_with_the_lanes_it_is_compared_with() -> None:
    library = next(lane for lane in SAMPLED_LANES if lane.as_library)
    plain = TVM_LANES[0]
    assert judged_by(library)[-2:] == (plain, library)
    wrong = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN)
    assert plain not in judged_by(library, wrong)
    assert plain in judged_by(library, replace(wrong, against="relax-export-llvm, by library"))
    crash = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.LOAD)
    assert [lane.name for lane in judged_by(library, crash)] == ["torch", library.name]
    assert set(TVM_LANES) < set(judged_by(library, replace(crash, kind=Kind.SLOW)))
    assert set(TVM_LANES) < set(judged_by(library, replace(wrong, against="the other lanes")))
