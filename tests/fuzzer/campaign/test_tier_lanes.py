"""The lanes of both tiers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.cases.torch.pass_tests import pass_test
from fuzzer.campaign.lanes.lane_chooser import Chosen, LaneChooser
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.lanes.lane_records import FLOOR, USUAL_SECONDS
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.plan.unsupported_operators import UNSUPPORTED
from fuzzer.campaign.test.tier_lanes import (
    EVERYTHING_PERCENT,
    expensive_importers,
    relay_lanes,
    takes_everything,
    tier_1,
    tier_2,
)
from fuzzer.lanes import (
    EVALUATED_LANES,
    OFTEN,
    RELAY_OFTEN,
    RELAY_ROUTES,
    RELAY_SAMPLED,
    SAMPLED_LANES,
    SCREENING,
    TVM_LANES,
    plain_of,
)
from generators.graph import Case, Symbol
from generators.table import TABLE
from oracles.importers import EXPENSIVE
from oracles.lane import Importer, LaneSpec, is_relay
from oracles.outcome import Built, Facts, Outcome, Raised, Stage, Unsupported
from oracles.transforms import TRANSFORMS

MIX = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
SETTINGS = Settings(Path(), 1, MIX, guided=True)
PLAIN = case_of({"x0": "float32[2,3]", "w0": "float32[4,3]"}, [("v0", "linear", "x0 w0")], "v0")
EXPORT, ONNX, RAW, FX = EVALUATED_LANES[:4]
MADE = Facts(behaviour=("relax relax.matmul float32 2",))
RIGHT = fakes.TWO_OUTPUTS


def outcomes_of(*right: LaneSpec, **more: Outcome) -> dict[LaneSpec, Outcome]:
    result = replace(fakes.correct(RIGHT), facts=MADE)
    return {**fakes.references(*RIGHT), **dict.fromkeys(right, result)}


def test_few_tests_take_everything() -> None:
    taken = sum(takes_everything(7, index) for index in range(3000))
    assert 0.7 * EVERYTHING_PERCENT < 100 * taken / 3000 < 1.3 * EVERYTHING_PERCENT


def test_each_cheap_importer_reads_each_case() -> None:
    cheap = tuple(lane for lane in EVALUATED_LANES if lane.dialect == "torch" and lane.importer not in EXPENSIVE)
    assert all(tier_1(SETTINGS, 1, index, PLAIN) == cheap for index in range(50))


@pytest.mark.slow
def test_without_guidance_the_seed_and_the_number_say_which_expensive_importers_read_a_case() -> None:
    random, learnt = replace(SETTINGS, guided=False), LaneChooser()
    taken = [expensive_importers(random, 1, index, PLAIN, {}, learnt) for index in range(1000)]
    counts = Counter(importer for lanes in taken for importer in lanes)
    for importer, percent in EXPENSIVE.items():
        assert 0.5 * percent < counts[importer] / 10 < 1.5 * percent
    assert [index for index, lanes in enumerate(taken) if Importer.ONNX_DYNAMO in lanes][:4] == [28, 31, 63, 162]
    assert [index for index, lanes in enumerate(taken) if Importer.EXPORT_TVM in lanes][:4] == [8, 13, 15, 19]
    learnt.imported(Importer.ONNX_DYNAMO, 100.0)
    assert taken == [expensive_importers(random, 1, index, PLAIN, outcomes_of(), learnt) for index in range(1000)]


@pytest.mark.slow
def test_with_guidance_expensive_importers_read_a_part_of_the_cases() -> None:
    chooser, counts, draw = LaneChooser(), Counter[Importer](), random_cases(SETTINGS, 1)
    for index in range(1000):
        case = draw(index)
        assert case is not None
        chooser.begin(0.2)
        counts.update(list(expensive_importers(SETTINGS, 1, index, case, {}, chooser)))
    for importer, percent in EXPENSIVE.items():
        assert 0.5 * percent < counts[importer] / 10 < 1.5 * percent


@pytest.mark.parametrize(
    ("outcome", "offered"),
    [
        (Raised(Stage.EXPORT, "E", "no"), set()),
        (Unsupported(Stage.IMPORT, "no"), {Importer.ONNX_DYNAMO}),
        (Raised(Stage.IMPORT, "E", "no"), {Importer.ONNX_DYNAMO}),
        (Raised(Stage.RUN, "E", "no"), set(EXPENSIVE)),
        (Built(MADE), set(EXPENSIVE)),
    ],
)
def test_an_importer_that_would_end_as_another_did_does_not_run(outcome: Outcome, offered: set[Importer]) -> None:
    chooser, met = LaneChooser(), set[Importer]()
    for index in range(FLOOR):
        met |= set(expensive_importers(SETTINGS, 1, index, PLAIN, {EXPORT: outcome}, chooser))
    assert met == offered


def test_tier_1_runs_in_each_toolchain_that_has_relax() -> None:
    mix = replace(MIX, always=(*(replace(lane, toolchain="old") for lane in SCREENING), *SCREENING, *RELAY_ROUTES))
    lanes = tier_1(replace(SETTINGS, lanes=mix), 1, 5, PLAIN)
    assert {lane.toolchain for lane in lanes} == {"old", "host"}
    assert sum(lane.importer is Importer.EXPORT for lane in lanes) == 2


def test_relay_has_no_tier_1_and_runs_as_without_tiers() -> None:
    mix = LaneMix(RELAY_ROUTES, RELAY_SAMPLED, RELAY_OFTEN, steered=True)
    settings = replace(SETTINGS, lanes=mix)
    assert tier_1(settings, 1, 4, PLAIN) == ()
    wanted = [lane for lane in lanes_of(settings, 1, 4, PLAIN) if is_relay(lane)]
    assert list(relay_lanes(settings, 1, 4, PLAIN)) == wanted != []
    assert tier_2(settings, 1, 4, PLAIN, outcomes_of(), LaneChooser()).lanes == {}


def test_an_importer_seldom_gets_an_operator_that_it_lacks() -> None:
    name = next(name for name, importers in UNSUPPORTED.items() if importers == {Importer.FX, Importer.ONNX})
    case = replace(PLAIN, graph=replace(PLAIN.graph, nodes=(replace(PLAIN.graph.nodes[0], op=name),)))
    taken = [{lane.importer for lane in tier_1(SETTINGS, 1, index, case)} for index in range(300)]
    assert all(Importer.EXPORT in each for each in taken)
    assert 10 < sum(Importer.ONNX in each for each in taken) < 60


def taken(
    outcomes: dict[LaneSpec, Outcome], chooser: LaneChooser, index: int = 3, case: Case = PLAIN
) -> list[LaneSpec]:
    return list(tier_2(SETTINGS, 1, index, case, outcomes, chooser).lanes)


def ready() -> LaneChooser:
    chooser = LaneChooser()
    chooser.begin(1.0)
    return chooser


def test_an_importer_that_failed_compiles_nothing() -> None:
    refused: dict[LaneSpec, Outcome] = {EXPORT: Raised(Stage.IMPORT, "E", "no"), ONNX: Raised(Stage.IMPORT, "E", "no")}
    assert taken({**outcomes_of(), **refused}, ready()) == []


def test_a_wrong_evaluation_asks_for_the_plain_lane_and_for_no_other_of_its_importer() -> None:
    wrong = {**outcomes_of(), EXPORT: replace(fakes.missing_output(RIGHT), facts=MADE)}
    assert taken(wrong, LaneChooser()) == [SCREENING[0]]
    lanes = taken({**wrong, **outcomes_of(ONNX)}, ready())
    assert [lane for lane in lanes if lane.importer is Importer.EXPORT] == [SCREENING[0]]


def test_a_right_or_undecided_evaluation_lets_the_chooser_decide() -> None:
    for outcome in (outcomes_of(EXPORT)[EXPORT], Built(MADE)):
        outcomes = {**outcomes_of(), EXPORT: outcome}
        assert taken(outcomes, LaneChooser()) == []
        assert 0 < len(taken(outcomes, ready())) < 15
        assert all(lane.importer is Importer.EXPORT for lane in taken(outcomes, ready()))


def test_where_sizes_stay_open_the_lane_of_a_pass_test_is_symbolic_and_has_the_pass_and_what_it_needs() -> None:
    symbolic = replace(PLAIN, graph=replace(PLAIN.graph, symbols=(Symbol("n", 1, 7),)))
    met = 0
    for index in range(1000):
        if (wanted := pass_test(1, index)) and wanted.may_act_on(frozenset(PLAIN.graph.ops)):
            lanes = tier_2(SETTINGS, 1, index, symbolic, outcomes_of(EXPORT), LaneChooser()).lanes
            (lane,) = (each for each in lanes if each.passes)
            assert lane.symbolic
            assert lane.passes == (*wanted.row.after, wanted.row.name)
            met += 1
    assert met > 5


def test_the_lane_of_a_pass_test_has_the_pass_if_the_case_has_something_for_it() -> None:
    met = Counter[bool]()
    for index in range(800):
        if wanted := pass_test(1, index):
            has_it = any(wanted.row.name in lane.passes for lane in taken(outcomes_of(EXPORT), LaneChooser(), index))
            assert has_it is wanted.may_act_on(frozenset(PLAIN.graph.ops)), wanted.row.name
            met[has_it] += 1
    assert min(met[True], met[False]) > 3


def test_symbolic_cases_get_the_lanes_for_symbolic_sizes() -> None:
    case = replace(PLAIN, graph=replace(PLAIN.graph, symbols=(Symbol("n", 1, 7),)))
    allowed = {lane for lane in (*SAMPLED_LANES, *OFTEN) if lane.symbolic}
    assert set(taken(outcomes_of(EXPORT), ready(), case=case)) <= {SCREENING[0], *allowed}
    assert not any(lane.symbolic for lane in taken(outcomes_of(EXPORT), ready()))


@pytest.mark.slow
def test_without_guidance_the_seed_the_number_and_tier_1_decide() -> None:
    random, learnt = replace(SETTINGS, guided=False), ready()
    for index in range(100):
        learnt.end(PLAIN, Chosen(dict.fromkeys(TVM_LANES, ())), 0.1)
        one, other = (
            list(tier_2(random, 1, index, PLAIN, outcomes_of(EXPORT), each).lanes) for each in (LaneChooser(), learnt)
        )
        assert one == other
        assert 1 <= len(one) <= 3


@pytest.mark.slow
@pytest.mark.long
def test_no_lane_and_no_pass_starves_in_a_thousand_tests() -> None:
    """Each lane that fits runs about every `FLOOR` tests, as far as one overdue lane for each test allows."""
    chooser, outcomes, counts = LaneChooser(), outcomes_of(EXPORT, ONNX, RAW, FX), Counter[str]()
    passes = Counter[str]()
    for index in range(1000):
        chooser.begin(0.2)
        chosen = tier_2(SETTINGS, 1, index, PLAIN, outcomes, chooser)
        chooser.end(PLAIN, chosen, USUAL_SECONDS * len(chosen.lanes))
        counts.update(lane.name for lane in chosen.lanes)
        passes.update({name for lane in chosen.lanes for name in lane.passes})
    plain = {plain_of(lane) for lane in EVALUATED_LANES}
    fitting = [lane for lane in (*SAMPLED_LANES, *OFTEN) if not lane.symbolic and lane not in plain]
    open_ = [lane for lane in fitting if lane.importer in (Importer.EXPORT, Importer.ONNX, Importer.DYNAMO)]
    assert min(counts[lane.name] for lane in open_) >= 1000 // FLOOR - 2, counts
    by_pass = Counter[str]()
    for row in TRANSFORMS:
        if row.relevant and not row.rewrites(TABLE["linear"]):
            continue  # it has nothing to do in this case
        by_pass[row.pass_name] += passes[row.name]
    assert min(by_pass.values()) >= 1000 // FLOOR - 2, by_pass
    assert sum(counts.values()) < 2.5 * 1000, "there is no more time than for two lanes each"
