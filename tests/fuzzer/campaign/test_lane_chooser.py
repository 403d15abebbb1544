"""Lanes are chosen by what is new about a case in them, by what they have shown, and at least now and then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.lanes.importer_chooser import features
from fuzzer.campaign.lanes.lane_chooser import (
    SAVED_SECONDS,
    TIER_1,
    TIER_2,
    TIER_2_SHARE,
    Chosen,
    LaneChooser,
    _awake,
    lane_features,
    record_of,
)
from fuzzer.campaign.lanes.lane_records import FLOOR, USUAL_SECONDS
from fuzzer.lanes import RELAY_ROUTES, SAMPLED_LANES, SCREENING, TVM_LANES
from generators.table import TABLE
from oracles.finding import Component, Finding, Kind
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Raised, Stage

PLAIN, ONNX, C = TVM_LANES
CASE = case_of({"x0": "float32[2,3]"}, [("v0", "softmax", "x0", {"dim": -1})], "v0")
RELU = case_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0")], "v0")
MADE = ("relax relax.nn.softmax float32 2", "onnx-file", "undefined something")


def named(name: str) -> LaneSpec:
    return next(lane for lane in SAMPLED_LANES if lane.name == name)


def drawn(*passes: str) -> LaneSpec:
    return replace(PLAIN, name="relax-export-drawn", passes=passes)


KERNELS = {
    "compiled llvm relax.nn.softmax float32 2",
    "compiled llvm attr softmax dim=-1",
    "compiled llvm attr softmax dtype=None",
}


@pytest.mark.parametrize(
    ("lane", "features"),
    [
        (PLAIN, KERNELS),
        (ONNX, KERNELS),
        (C, {name.replace("llvm", "c") for name in KERNELS}),
        (named("relax-export-O0"), KERNELS | {"compiled target llvm-O0 relax.nn.softmax"}),
        (named("relax-export-zero"), KERNELS | {"compiled pipeline zero relax.nn.softmax"}),
        (named("relax-export-gradient"), KERNELS | {"compiled gradient relax.nn.softmax"}),
        (named("relax-dynamo-llvm"), KERNELS | {"compiled dynamo relax.nn.softmax"}),
        (drawn("FuseOps"), KERNELS | {"compiled FuseOps relax.nn.softmax"}),
        (drawn("AdjustMatmulOrder"), KERNELS),  # it has nothing to do here
    ],
    ids=lambda each: each.name if isinstance(each, LaneSpec) else "",
)
def test_features(lane: LaneSpec, features: set[str]) -> None:
    found = lane_features(lane, CASE, MADE)
    assert (set(found), len(found)) == (features, len(features))


def test_a_pass_that_rewrites_an_operator_of_the_case_gives_a_feature_in_each_dialect() -> None:
    lane, weights = drawn("FoldBatchnormToConv2D"), {"x0": "float32[1,2,4,4]", "x1": "float32[3,2,3,3]"}
    given = {"kernel_shape": None, "pads": None, "strides": None, "dilations": None, "group": None, "auto_pad": None}
    onnx = case_of(weights, [("v0", "Conv-11", "x0 x1", {**given, "inputs": (True, True, False)})], "v0", opset=17)
    torch = case_of(weights, [("v0", "conv2d", "x0 x1", dict(TABLE["conv2d"].defaults))], "v0")
    for case, op in ((onnx, "Conv"), (torch, "conv2d")):
        assert f"compiled FoldBatchnormToConv2D {op}" in lane_features(lane, case, MADE)
        assert "pass FoldBatchnormToConv2D" in _awake(lane, case)
    assert "pass FoldBatchnormToConv2D" not in _awake(lane, RELU)


def chooser(saved: float = SAVED_SECONDS) -> LaneChooser:
    made = LaneChooser()
    made.begin(saved / TIER_2_SHARE)
    return made


def chosen_by(some: LaneChooser, candidates: Mapping[LaneSpec, Sequence[str]]) -> list[LaneSpec]:
    """The lanes that a test takes. What was set aside for them is given back, because none of them runs."""
    chosen = some.choose(CASE, (), candidates)
    some.end(CASE, replace(chosen, lanes={}), 0.0)
    return list(chosen.lanes)


def test_lanes_that_compile_the_same_kernels_are_not_chosen_together() -> None:
    some, now = chooser(), dict.fromkeys((*SCREENING, C), MADE)
    assert chosen_by(some, now)[:2] in ([PLAIN, C], [C, PLAIN])


def test_what_was_compiled_is_worth_less() -> None:
    some = chooser()
    for _ in range(20):
        some.end(CASE, Chosen({PLAIN: MADE}), 0.0)
    assert chosen_by(some, {PLAIN: MADE, C: MADE})[0] == C
    assert some.changed() == dict.fromkeys(KERNELS, 20)
    assert some.changed() == {}
    later = chooser()
    later.recall({**dict.fromkeys(KERNELS, 20), "op relu float32 2": 3})
    assert chosen_by(later, {PLAIN: MADE, C: MADE})[0] == C


def test_a_lane_that_shows_new_failures_comes_first() -> None:
    some, zero = chooser(), named("relax-export-zero")
    found = Finding(Kind.INTERNAL_ERROR, Component.TVM, C, Stage.COMPILE, Raised(Stage.COMPILE, "E", "no"))
    assert chosen_by(some, {C: MADE, zero: MADE})[0] == zero, "it does more"
    assert some.is_new(CASE, found)
    for message in ("one", "two", "three"):
        some.learn(CASE, [replace(found, evidence=Raised(Stage.COMPILE, "E", message))])
    assert some.records.of("relax-export-c").found == 3
    assert chosen_by(some, {C: MADE, zero: MADE})[0] == C
    some.learn(CASE, [found, found])
    assert not some.is_new(CASE, found)
    assert (some.records.of("tier 1").found, some.records.of("tier 2").found) == (0, 4)
    early = Raised(Stage.IMPORT, "E", "early")
    some.learn(CASE, [replace(found, lane=PLAIN, stage=Stage.IMPORT, evidence=early)])
    assert (some.records.of("tier 1").found, some.records.of(PLAIN.name).found) == (1, 0)
    some.learn(CASE, [replace(found, component=Component.EXPORTER, evidence=Raised(Stage.EXPORT, "E", "other"))])
    assert some.records.of("relax-export-c").found == 4


def test_no_more_time_is_spent_than_tier_1_took() -> None:
    some = LaneChooser()
    assert chosen_by(some, {PLAIN: MADE}) == [], "nothing is saved yet"
    some.begin(0.3)
    chosen = some.choose(CASE, (), dict.fromkeys((*TVM_LANES, *SAMPLED_LANES), MADE))
    assert 1 <= len(chosen.lanes) <= 4
    some.end(CASE, chosen, 0.9)
    assert chosen_by(some, {PLAIN: MADE}) == []
    assert sum(some.records.of(lane.name).seconds for lane in chosen.lanes) == pytest.approx(0.9)


def test_what_a_test_is_about_to_spend_is_set_aside() -> None:
    """Many workers choose before the first of them has ended its test."""
    some, candidates = chooser(), dict.fromkeys((*TVM_LANES, *SAMPLED_LANES), MADE)
    under_way = [some.choose(CASE, (), candidates) for _ in range(32)]
    assert SAVED_SECONDS <= sum(chosen.reserved for chosen in under_way) < SAVED_SECONDS + 2 * USUAL_SECONDS
    assert not under_way[-1].lanes
    for chosen in under_way:
        some.end(CASE, chosen, chosen.reserved)
    assert chosen_by(some, candidates) == []
    some.begin(4 * USUAL_SECONDS / TIER_2_SHARE)
    assert chosen_by(some, candidates) != []


def test_lanes_that_must_run_take_time_from_the_others() -> None:
    some = LaneChooser()
    some.begin(USUAL_SECONDS / TIER_2_SHARE)
    chosen = some.choose(CASE, (PLAIN, ONNX), dict.fromkeys((*TVM_LANES, *SAMPLED_LANES), MADE))
    assert list(chosen.lanes) == [PLAIN, ONNX]
    assert chosen.reserved == pytest.approx(2 * USUAL_SECONDS)
    later = chooser()
    assert list(later.choose(CASE, (PLAIN,), {PLAIN: MADE, ONNX: MADE, C: MADE}).lanes)[:2] == [PLAIN, C]


def test_a_test_without_time_does_not_change_what_a_lane_must_be_worth() -> None:
    some = chooser()
    some.choose(CASE, (), {PLAIN: MADE})
    usual = some._usual_worth
    assert usual > 0
    some.choose(CASE, (), {})
    some.end(CASE, Chosen({}), 10.0)
    some.choose(CASE, (), {PLAIN: MADE})
    assert some._usual_worth == usual


def test_a_lane_that_took_too_long_stops_the_others_for_a_short_time_only() -> None:
    some, tests = LaneChooser(), 0
    some.begin(0.2)
    some.end(CASE, Chosen({PLAIN: MADE}), 30.0)
    while not chosen_by(some, {ONNX: MADE}):
        some.begin(0.2)
        tests += 1
    assert tests <= 1 + SAVED_SECONDS / (0.2 * TIER_2_SHARE)


def test_lanes_of_relay_are_not_recorded() -> None:
    some = LaneChooser()
    some.end(CASE, Chosen({PLAIN: MADE, RELAY_ROUTES[0]: MADE}), 0.3)
    assert set(some.records.by_kind) == {TIER_2, PLAIN.name}
    assert some.counts["compiled llvm relax.nn.softmax float32 2"] == 1
    for stage in (Stage.IMPORT, Stage.COMPILE):
        some.learn(CASE, [Finding(Kind.REJECTED, Component.TVM, RELAY_ROUTES[0], stage, Raised(stage, "E", "no"))])
    assert {name: record.found for name, record in some.records.by_kind.items()} == {TIER_2: 0, PLAIN.name: 0}


def test_a_lane_that_another_worker_is_about_to_run_is_not_overdue() -> None:
    some = LaneChooser()
    for _ in range(FLOOR):
        some.begin(0.0)
    assert list(some.choose(CASE, (), {PLAIN: MADE, C: MADE}).lanes) == [PLAIN]
    assert list(some.choose(CASE, (), {PLAIN: MADE, C: MADE}).lanes) == [C]
    assert list(some.choose(CASE, (), {PLAIN: MADE, C: MADE}).lanes) == []


def test_an_expensive_importer_has_a_record_of_its_own() -> None:
    some, importer = LaneChooser(), Importer.ONNX_DYNAMO
    assert (record_of(importer), record_of(Importer.ONNX)) == ("importer onnx-dynamo", TIER_1)
    some.begin(0.2)
    assert not some.reads(importer, RELU)
    assert some.reads(importer, CASE), "it has more that is new"
    some.imported(importer, 0.6)
    reserved = some.choose(CASE, (), {PLAIN: MADE, C: MADE}).reserved
    assert reserved == pytest.approx(2 * USUAL_SECONDS), "tier 2 may take its part of that time too"
    lane = named("relax-onnx-dynamo-llvm")
    some.learn(CASE, [Finding(Kind.REJECTED, Component.TVM, lane, Stage.IMPORT, Raised(Stage.IMPORT, "E", "no"))])
    records = {name: (record.seconds, record.found) for name, record in some.records.by_kind.items()}
    assert records == {TIER_1: (0.2, 0), "importer onnx-dynamo": (0.6, 1), PLAIN.name: (0, 0), C.name: (0, 0)}
    read = {name for name in some.changed() if name.startswith("imported ")}
    assert read == set(features(importer, CASE))
    later = LaneChooser()
    later.recall(dict.fromkeys(read, 3))
    assert [later.reads(importer, case) for case in (CASE, RELU)] == [False, True]


def test_an_importer_that_shows_nothing_reads_fewer_cases() -> None:
    cases = [case_of({"x0": "float32[2,3]"}, [("v0", op, "x0")], "v0") for op in ("relu", "tanh", "exp", "neg", "abs")]
    read = {}
    for found in (0, 30):
        some = LaneChooser()
        some.records.find((TIER_1,) * 30)
        some.records.find((record_of(Importer.EXPORT_TVM),) * found)
        for index in range(1000):
            some.begin(0.06)
            if some.reads(Importer.EXPORT_TVM, cases[index % 5]):
                some.imported(Importer.EXPORT_TVM, 0.5)
        read[found] = some.records.of(record_of(Importer.EXPORT_TVM)).seconds / 0.5
    assert 1000 / FLOOR <= read[0] < read[30] / 2


def test_a_lane_that_has_not_run_for_long_is_overdue() -> None:
    some = LaneChooser()
    for _ in range(FLOOR - 1):
        some.begin(0.0)
    assert not some.overdue(PLAIN, CASE)
    some.begin(0.0)
    assert some.overdue(PLAIN, CASE)
    assert some.overdue(drawn("FuseOps"), CASE)
    some.end(CASE, Chosen({PLAIN: MADE, drawn("FuseOps"): MADE}), 0.1)
    assert not some.overdue(PLAIN, CASE)
    assert not some.overdue(drawn("FuseOps"), CASE)
    assert some.overdue(drawn("FuseOps", "LegalizeOps"), CASE)
    assert not some.overdue(drawn("FuseOps", "AdjustMatmulOrder"), CASE), "it would have nothing to do"


def test_a_wrong_result_is_new_by_its_operators() -> None:
    some = LaneChooser()
    mismatch = Finding(Kind.DIED, Component.TVM, PLAIN, Stage.RUN, fakes.segfault(Stage.RUN))
    assert some.is_new(CASE, mismatch)
    some.learn(CASE, [mismatch])
    assert not some.is_new(CASE, mismatch)
    assert some.is_new(fakes.CASE, mismatch)
