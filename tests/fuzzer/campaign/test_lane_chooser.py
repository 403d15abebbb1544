"""Lanes are chosen by what is new about a case in them, by what they have shown, and at least now and then."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.lane_chooser import FLOOR, SAVED_SECONDS, TIER_2_SHARE, LaneChooser, lane_features
from fuzzer.lanes import SAMPLED_LANES, SCREENING, TVM_LANES
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Stage

PLAIN, ONNX, C = TVM_LANES
CASE = case_of({"x0": "float32[2,3]"}, [("v0", "softmax", "x0", {"dim": -1})], "v0")
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
    assert lane_features(lane, CASE, MADE) == features


def chooser(saved: float = SAVED_SECONDS) -> LaneChooser:
    made = LaneChooser()
    made.begin(saved / TIER_2_SHARE)
    return made


def test_lanes_that_compile_the_same_kernels_are_not_chosen_together() -> None:
    some, now = chooser(), dict.fromkeys((*SCREENING, C), MADE)
    assert some.choose(CASE, now)[:2] in ([PLAIN, C], [C, PLAIN])


def test_what_was_compiled_is_worth_less() -> None:
    some = chooser()
    for _ in range(20):
        some.end(CASE, {PLAIN: MADE}, 0.0)
    assert some.choose(CASE, {PLAIN: MADE, C: MADE})[0] == C
    assert some.changed() == dict.fromkeys(KERNELS, 20)
    assert some.changed() == {}
    later = chooser()
    later.recall({**dict.fromkeys(KERNELS, 20), "op relu float32 2": 3})
    assert later.choose(CASE, {PLAIN: MADE, C: MADE})[0] == C


def test_a_lane_that_shows_new_failures_comes_first() -> None:
    some, zero = chooser(), named("relax-export-zero")
    found = Finding(Kind.INTERNAL_ERROR, Component.TVM, C, Stage.COMPILE, Raised(Stage.COMPILE, "E", "no"))
    assert some.choose(CASE, {C: MADE, zero: MADE})[0] == zero, "it does more"
    assert some.is_new(CASE, found)
    for message in ("one", "two", "three"):
        some.learn(CASE, [replace(found, evidence=Raised(Stage.COMPILE, "E", message))])
    assert some.records.of("relax-export-c").found == 3
    assert some.choose(CASE, {C: MADE, zero: MADE})[0] == C
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
    assert some.choose(CASE, {PLAIN: MADE}) == [], "nothing is saved yet"
    some.begin(0.3)
    taken = some.choose(CASE, dict.fromkeys((*TVM_LANES, *SAMPLED_LANES), MADE))
    assert 1 <= len(taken) <= 4
    some.end(CASE, dict.fromkeys(taken, MADE), 0.9)
    assert some.choose(CASE, {PLAIN: MADE}) == []
    assert sum(some.records.of(lane.name).seconds for lane in taken) == pytest.approx(0.9)


def test_a_lane_that_has_not_run_for_long_is_overdue() -> None:
    some = LaneChooser()
    for _ in range(FLOOR - 1):
        some.begin(0.0)
    assert not some.overdue(PLAIN, CASE)
    some.begin(0.0)
    assert some.overdue(PLAIN, CASE)
    assert some.overdue(drawn("FuseOps"), CASE)
    some.end(CASE, {PLAIN: MADE, drawn("FuseOps"): MADE}, 0.1)
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
