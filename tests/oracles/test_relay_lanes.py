"""Relay lanes: the lanes with which they are compared, and how they may round."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.lanes import (
    EVERY_TVM_LANE,
    RELAY_LANES,
    RELAY_ROUTES,
    TORCH,
    TVM_LANES,
    needed,
    plain_routes_beside,
    select,
)
from fuzzer.signature import Signature
from fuzzer.toolchains.lanes import in_toolchains, runs_in
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain, language_of
from fuzzer.triage.reproduce import judged_by
from oracles.finding import Component, Kind
from oracles.lane import Execution, Importer, LaneSpec, default_executor
from oracles.outcome import Stage
from oracles.siblings import describe_additions, sibling
from oracles.transforms import Rounding, rounding_in

TRACE, ONNX = RELAY_ROUTES
NAMED = {lane.name: lane for lane in RELAY_LANES}
RELAY = Toolchain("relay", "/opt/python", kind=GraphLanguage.RELAY)


def test_which_relay_lanes_there_are() -> None:
    assert list(NAMED) == [
        "relay-torch-O2",
        "relay-onnx-O2",
        "relay-torch-library",
        "relay-onnx-library",
        *(f"relay-{importer}-O{level}" for importer in ("torch", "onnx") for level in (0, 1, 3, 4)),
        "relay-torch-vm",
        "relay-onnx-vm",
        "relay-onnx-dynamic-to-static",
    ]
    assert {lane.toolchain for lane in RELAY_LANES} == {"relay"}
    assert {lane.opset for lane in RELAY_LANES if lane.importer is Importer.ONNX} == {17}


@pytest.mark.parametrize("lane", RELAY_LANES, ids=str)
def test_the_sibling_of_a_relay_lane_is_the_plain_lane_of_its_importer(lane: LaneSpec) -> None:
    plain = TRACE if lane.importer is Importer.TRACE else ONNX
    assert sibling(lane, (*EVERY_TVM_LANE, TORCH)) == (None if lane == plain else plain)


def test_what_each_relay_lane_adds() -> None:
    assert {name: describe_additions(lane) for name, lane in NAMED.items() if "O" not in name.rpartition("-")[2]} == {
        "relay-torch-library": "library",
        "relay-onnx-library": "library",
        "relay-torch-vm": "executor vm",
        "relay-onnx-vm": "executor vm",
        "relay-onnx-dynamic-to-static": "parameters rebound, DynamicToStatic",
    }
    assert describe_additions(NAMED["relay-torch-O4"]) == "opt_level 4"
    assert describe_additions(TRACE) == ""
    assert (default_executor(TRACE), default_executor(TVM_LANES[0])) == (Execution.GRAPH, Execution.BYTECODE)


def test_how_relay_lanes_may_round() -> None:
    """SimplifyInference runs at all levels, FastMath at level 4."""
    levels = [rounding_in(NAMED[f"relay-torch-O{level}"]) for level in range(5)]
    assert levels == [Rounding.OTHER_ORDER] * 4 + [Rounding.FAST_MATH]
    relax = TVM_LANES[0]
    assert rounding_in(replace(relax, opt_level=4)) is Rounding.SAME
    assert rounding_in(replace(relax, passes=("ToMixedPrecision",))) is Rounding.HALF


def test_relay_lanes_run_in_relay_toolchains_only() -> None:
    assert [language_of(lane) for lane in (TRACE, TVM_LANES[0], TORCH)] == [
        GraphLanguage.RELAY,
        GraphLanguage.RELAX,
        None,
    ]
    assert [runs_in(TRACE, where) for where in (HOST, RELAY)] == [False, True]
    mine = replace(RELAY, name="mine")
    both = in_toolchains((TVM_LANES[0], TRACE), (HOST, mine))
    assert both == (TVM_LANES[0], replace(TRACE, toolchain="mine"))


def test_relay_lanes_are_selected_by_their_names_and_not_by_default() -> None:
    assert select("relay-*") == RELAY_LANES
    assert select("*") == TVM_LANES


def test_a_relay_lane_runs_with_the_hosts_references_and_with_relays_routes() -> None:
    assert [lane.name for lane in needed(ONNX)] == ["torch", "torch-f64", "torch-envelope", "onnxruntime-opset17"]
    assert {lane.toolchain for lane in needed(ONNX)} == {"host"}
    there = replace(NAMED["relay-torch-library"], toolchain="mine")
    assert plain_routes_beside(TRACE) == RELAY_ROUTES
    assert [lane.name for lane in plain_routes_beside(there)] == [
        "relay-torch-O2",
        "relay-onnx-O2",
        "relay-torch-library",
        "relay-onnx-library",
    ]
    bloated = judged_by(there, Signature(Kind.BLOAT, Component.TVM, Stage.COMPILE, against="the other lanes"))
    assert {lane.name for lane in bloated if lane.toolchain == "mine"} == {
        "relay-torch-O2",
        "relay-onnx-O2",
        "relay-torch-library",
        "relay-onnx-library",
    }
