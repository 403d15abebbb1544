"""What lanes cost and have shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.campaign.lanes.lane_records import (
    SECONDS,
    USUAL_SECONDS,
    USUAL_YIELD,
    WEIGHT,
    DistinctFailures,
    LaneRecords,
    kinds_of,
)
from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.signature import Signature
from oracles.finding import Component, Kind
from oracles.outcome import Stage

PLAIN = TVM_LANES[0]
DRAWN = replace(PLAIN, name="relax-export-drawn", passes=("FuseOps-0", "LegalizeOps", "FuseOps"))
LOUD = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.COMPILE, "E", "no", "f")
SILENT = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN)


def test_a_lane_is_recorded_by_its_name_and_a_drawn_one_by_its_passes() -> None:
    assert kinds_of(PLAIN) == ("relax-export-llvm",)
    assert kinds_of(DRAWN) == ("pass FuseOps", "pass LegalizeOps")
    assert kinds_of(replace(DRAWN, passes=())) == ("drawn",)


def test_a_lane_has_the_same_record_in_every_toolchain() -> None:
    for lane in (*SAMPLED_LANES, DRAWN):
        assert kinds_of(replace(lane, toolchain="tvm-0.26")) == kinds_of(lane)


def test_cost_and_yield_begin_with_what_is_usual() -> None:
    records = LaneRecords()
    (gradient,) = [lane for lane in SAMPLED_LANES if lane.variant == "gradient"]
    assert records.seconds(PLAIN, ("a",)) == USUAL_SECONDS
    assert records.seconds(gradient, ("g",)) == SECONDS["gradient"]
    assert records.failures_per_second(("a",)) == USUAL_YIELD
    records.take(("a",), ("a",), 5)
    records.spend(("a",), 8.0)
    records.find(("a",))
    assert records.seconds(PLAIN, ("a",)) == (8.0 + USUAL_SECONDS) / 2
    assert records.failures_per_second(("a",)) == pytest.approx((1 + USUAL_YIELD * WEIGHT) / (8 + WEIGHT))
    assert records.failures_per_second(("a", "b")) == pytest.approx(
        (records.failures_per_second(("a",)) + USUAL_YIELD) / 2
    )
    records.take(("a",), (), 6)
    assert (records.of("a").taken, records.of("a").last) == (2, 5), "it had nothing to do in test 6"


def test_failures_are_new_by_message_or_by_operators() -> None:
    failures, ops = DistinctFailures(), frozenset({"add", "mul"})
    assert failures.add(LOUD, ops)
    assert not failures.add(LOUD, frozenset({"sub"}))
    assert failures.add(replace(LOUD, skeleton="other"), ops)
    assert failures.add(SILENT, ops)
    assert not failures.add(SILENT, ops | {"sub"})
    assert failures.add(SILENT, frozenset({"sub"}))
    assert failures.add(SILENT, frozenset({"add"})), "fewer operators: perhaps another bug"
    assert failures.silent[SILENT.id] == {frozenset({"add"}), frozenset({"sub"})}
