"""One test in two tiers, on lanes without a compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import fakes
import numpy as np
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.campaign.lanes.lane_chooser import TIER_1, TIER_2, LaneChooser, record_of
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tier_lanes import takes_everything
from fuzzer.campaign.test.tiers import run_test
from fuzzer.lanes import EVALUATED_LANES, OFTEN, RELAY_ROUTES, SAMPLED_LANES, SCREENING, TVM_LANES
from generators.graph import Case
from oracles.finding import Kind
from oracles.importers import EXPENSIVE
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec, is_relax, is_relay, is_tier_1
from oracles.outcome import Built, Outcome, Raised, Ran, Result, Stage
from oracles.siblings import sibling

SAMPLED = tuple(lane for lane in SAMPLED_LANES if lane.variant == "relax")
MIX = LaneMix(SCREENING, SAMPLED, OFTEN, DRAWN, steered=True)
SETTINGS = Settings(Path(), 1, MIX, guided=True)
CASE = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
INDEX = next(index for index in range(100) if not takes_everything(1, index))
EXPORT = EVALUATED_LANES[0]
OTHER = Ran((np.array([9.0, 9.0], np.float32),), (np.array([9.0, 9.0], np.float32),))


def lab(outcomes: dict[LaneSpec, Outcome]) -> FakeLab:
    return FakeLab(lambda case, lane, lanes: outcomes.get(lane))


def tvm_runs(some: FakeLab) -> list[tuple[LaneSpec, ...]]:
    return [lanes for _, lanes in some.ran]


def test_lanes_that_the_user_named_run_in_every_test_without_tiers() -> None:
    settings, some = replace(SETTINGS, lanes=LaneMix(TVM_LANES[:1])), lab({})
    tested = run_test(some.run, settings, 1, INDEX, CASE, LaneChooser())
    assert tvm_runs(some) == [TVM_LANES[:1]]
    assert set(tested.result.outcomes) == set(lanes_of(settings, 1, INDEX, CASE))


def test_some_tests_run_everything_at_once() -> None:
    some, chooser = lab({}), LaneChooser()
    index = next(index for index in range(200) if takes_everything(1, index))
    run_test(some.run, SETTINGS, 1, index, CASE, chooser)
    wanted = tuple(lane for lane in lanes_of(SETTINGS, 1, index, CASE) if lane.engine is Engine.TVM)
    assert tvm_runs(some) == [(), wanted]
    assert chooser.records.of("relax-export-llvm").taken == 1
    assert not any(is_tier_1(lane) for lanes in tvm_runs(some) for lane in lanes)


def test_lanes_of_relax_pay_for_no_others() -> None:
    """References, Relax and Relay run one after the other, and only the middle one counts as tier 2."""
    with_relay = replace(SETTINGS, lanes=replace(MIX, always=(*SCREENING, *RELAY_ROUTES)))
    some = lab({})

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result, seconds = some.run(case, lanes), 1.0 if any(map(is_relax, lanes)) else 20.0
        return replace(result, stage_cpu={Stage.EXPORT: 0.25 * seconds, Stage.RUN: 0.75 * seconds}, cpu_seconds=seconds)

    chooser = LaneChooser()
    everything = next(index for index in range(200) if takes_everything(1, index))
    tested = run_test(run, with_relay, 1, everything, CASE, chooser)
    assert tested.result.cpu_seconds == 20 + 20 + 1
    lanes = list(tested.result.outcomes)
    assert lanes.index(SCREENING[0]) < lanes.index(RELAY_ROUTES[0]), "the first lane that shows a failure is reduced"
    assert (chooser.records.of(TIER_1).seconds, chooser.records.of(TIER_2).seconds) == (20 + 0.25, 0.75)
    assert not any("relay" in kind for kind in chooser.records.by_kind)
    chooser = LaneChooser()
    tested = run_test(run, with_relay, 1, INDEX, CASE, chooser)
    assert any(map(is_relay, tested.result.outcomes))
    assert chooser.records.of(TIER_2).seconds < 20
    assert not any("relay" in kind for kind in chooser.records.by_kind)


def test_everything_of_a_case_that_pytorch_refuses_is_the_references() -> None:
    refused = Raised(Stage.RUN, "E", "no")

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = lab({}).run(case, lanes)
        return replace(result, outcomes={**result.outcomes, fakes.TORCH: refused})

    index = next(index for index in range(200) if takes_everything(1, index))
    tested = run_test(run, SETTINGS, 1, index, CASE, LaneChooser())
    assert not any(lane.engine is Engine.TVM for lane in tested.result.outcomes)


def test_first_the_importers_and_then_lanes_that_compile() -> None:
    some = lab({})
    tested = run_test(some.run, SETTINGS, 1, INDEX, CASE, LaneChooser())
    first, *later = tvm_runs(some)
    assert all(map(is_tier_1, first))
    assert not any(is_tier_1(lane) for lanes in later for lane in lanes)
    assert list(judge_all(CASE, tested.result.outcomes)) == []
    assert all(isinstance(tested.result.outcomes[lane], Built) for lane in first)
    assert tested.result.cpu_seconds == len(some.ran)
    assert tested.evaluation_disagrees == ()


@pytest.mark.slow
def test_an_expensive_importer_runs_apart_so_that_its_cost_is_known() -> None:
    met = Counter[str]()
    for index in range(120):
        some, chooser = lab({}), LaneChooser()
        run_test(some.run, replace(SETTINGS, guided=False), 1, index, CASE, chooser)
        first, *later = tvm_runs(some)
        expensive = [lanes for lanes in later if any(map(is_tier_1, lanes))]
        assert not any(lane.importer in EXPENSIVE for lane in first if is_tier_1(lane))
        assert all(len(lanes) == 1 for lanes in expensive)
        for (lane,) in expensive:
            met[lane.importer] += 1
            assert chooser.records.of(record_of(lane.importer)).seconds == 1.0
        assert takes_everything(1, index) or chooser.records.of(TIER_1).seconds == 1.0
    assert set(met) == set(EXPENSIVE)


def test_a_failure_of_tier_1_is_one_of_the_plain_lane_and_nothing_of_it_is_compiled() -> None:
    refused = Raised(Stage.IMPORT, "E", "no")
    some = lab(dict.fromkeys(EVALUATED_LANES, refused))
    tested = run_test(some.run, SETTINGS, 1, INDEX, CASE, LaneChooser())
    findings = list(judge_all(CASE, tested.result.outcomes))
    assert findings[0].lane == SCREENING[0]
    assert {finding.evidence for finding in findings} == {refused}
    assert not any(map(is_tier_1, (finding.lane for finding in findings)))
    assert len(tvm_runs(some)) == 1


def test_a_wrong_evaluation_is_only_a_finding_where_compiled_code_is_wrong_too() -> None:
    both, one = lab({EXPORT: OTHER, SCREENING[0]: OTHER}), lab({EXPORT: OTHER})
    tested = run_test(both.run, SETTINGS, 1, INDEX, CASE, LaneChooser())
    assert [(f.kind, f.lane) for f in judge_all(CASE, tested.result.outcomes)] == [(Kind.WRONG_VALUE, SCREENING[0])]
    assert tested.evaluation_disagrees == ()
    tested = run_test(one.run, SETTINGS, 1, INDEX, CASE, LaneChooser())
    assert list(judge_all(CASE, tested.result.outcomes)) == []
    assert tested.evaluation_disagrees == (SCREENING[0],)


@pytest.mark.slow
def test_the_plain_sibling_of_a_lane_runs_where_the_lane_fails_in_a_new_way() -> None:
    def fails(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return OTHER if lane.passes or lane.pipeline.value == "zero" else None

    some, chooser = FakeLab(fails), LaneChooser()
    for index in range(40):
        tested = run_test(some.run, SETTINGS, 1, index, CASE, chooser)
        findings = list(judge_all(CASE, tested.result.outcomes))
        for finding in findings:
            if chooser.is_new(CASE, finding):
                assert sibling(finding.lane, tested.result.outcomes) is not None
        chooser.learn(CASE, findings)
    assert chooser.failures.silent


def test_a_case_that_pytorch_refuses_ends_after_tier_1() -> None:
    def run(case: Case, lanes: Sequence[LaneSpec]) -> fakes.Any:
        result = lab({}).run(case, lanes)
        return replace(result, outcomes={**result.outcomes, fakes.TORCH: Raised(Stage.RUN, "E", "no")})

    tested = run_test(run, SETTINGS, 1, INDEX, CASE, LaneChooser())
    assert not any(isinstance(each, Ran) for lane, each in tested.result.outcomes.items() if lane.engine is Engine.TVM)
    assert tested.result.cpu_seconds == 1.0
