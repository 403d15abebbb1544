"""Which lanes a test takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.lanes import lane_mix
from fuzzer.campaign.lanes.lane_mix import EVERY, lanes_of
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.campaign.plan.unsupported_operators import UNSUPPORTED
from fuzzer.lanes import EVERY_LANE, OFTEN, REFERENCES, SAMPLED_LANES, SCREENING
from generators.graph import Case
from oracles.lane import Engine, Importer, LaneSpec
from oracles.siblings import sibling

SETTINGS = Settings(Path(), 1, LaneMix(SCREENING, SAMPLED_LANES, OFTEN, drawn=2, steered=True))
PLAIN = case_of({"x0": "float32[2,3]", "w0": "float32[4,3]"}, [("v0", "linear", "x0 w0")], "v0")


def of_tvm(index: int, case: Case = PLAIN) -> list[LaneSpec]:
    return [lane for lane in lanes_of(SETTINGS, 1, index, case) if lane.engine is Engine.TVM]


def test_references_come_first_and_screening_lanes_in_every_test() -> None:
    for index in range(20):
        lanes = lanes_of(SETTINGS, 1, index, PLAIN)
        assert lanes[: len(REFERENCES)] == REFERENCES
        assert set(SCREENING) <= set(lanes)
        assert len(set(lanes)) == len(lanes)


def test_what_is_taken_often_is_taken_by_each_fourth_test() -> None:
    taken = [set(OFTEN) <= set(of_tvm(index)) for index in range(12)]
    assert taken == [index % EVERY == 0 for index in range(12)]


def test_all_sampled_lanes_have_their_turn() -> None:
    turns = [lane for lane in SAMPLED_LANES if not lane.symbolic]
    taken = Counter(lane for index in range(len(turns)) for lane in of_tvm(index) if lane in turns)
    assert set(taken) == set(turns)


@pytest.mark.slow
def test_drawn_lanes_are_new_in_each_test_and_run_after_their_siblings() -> None:
    drawn = [[lane for lane in of_tvm(index) if lane not in EVERY_LANE] for index in range(50)]
    assert all(0 < len(lanes) <= 2 for lanes in drawn)
    assert len({lane for lanes in drawn for lane in lanes}) > 70
    for index, lanes in enumerate(drawn):
        order = list(of_tvm(index))
        for lane in lanes:
            plain = sibling(lane, order)
            assert plain is not None
            assert order.index(plain) < order.index(lane)


def test_a_test_is_decided_by_seed_and_number() -> None:
    assert of_tvm(7) == of_tvm(7)
    assert of_tvm(7) != [lane for lane in lanes_of(SETTINGS, 2, 7, PLAIN) if lane.engine is Engine.TVM]


@pytest.mark.slow
def test_an_importer_that_lacks_an_operator_is_drawn_seldom() -> None:
    name = next(name for name, importers in UNSUPPORTED.items() if importers == {Importer.FX, Importer.ONNX})
    graph = replace(PLAIN.graph, nodes=(replace(PLAIN.graph.nodes[0], op=name),))
    importers = [{lane.importer for lane in of_tvm(index, replace(PLAIN, graph=graph))} for index in range(300)]
    with_onnx = sum(Importer.ONNX in each for each in importers)
    assert all(Importer.EXPORT in each for each in importers)
    assert 10 < with_onnx < 60, f"{with_onnx} of 300; {lane_mix.TRY_UNSUPPORTED_PERCENT} % are wanted"
