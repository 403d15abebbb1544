"""Guidance: of several cases the one that promises most is run, and nothing learnt is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.cases.cases import CaseSource, random_cases
from fuzzer.campaign.cases.failure_rates import NO_OPERAND, Typed, typed_operators
from fuzzer.campaign.cases.guidance import CANDIDATES, DRAWN_ANEW, ROUTE_SHARES, YIELD, Guidance
from fuzzer.campaign.lanes.lane_chooser import Chosen
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.store.features import of_case
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.rows import Observations
from fuzzer.campaign.store.state import State
from fuzzer.lanes import SCREENING
from fuzzer.seeds import corpus
from generators import case_file, random_graph
from generators.check import check
from generators.choice import ChoiceSource, NumpySource
from generators.drawn_graph import DrawnGraph
from generators.graph import DRAWN, Array, Case, DType, Form, Graph, Profile
from generators.table import TABLE
from generators.torch.random_graph import generate
from oracles.outcome import Outcome, Raised, Stage

BAD: dict[object, Outcome] = {SCREENING[0]: Raised(Stage.IMPORT, "E", "no")}


def guidance(folder: Path, seed: int = 1) -> Guidance:
    return Guidance(Settings(folder, seed, guided=True), seed)


def of(op: str, index: int = 0) -> Case:
    return generate(NumpySource(9, index), ops=(TABLE[op],), symbolic=False)


def learn(guide: Guidance, case: Case, index: int = 0, *, well: bool = True) -> None:
    guide.learn(index, case, {} if well else BAD, ())  # type: ignore[arg-type]


def test_what_tests_showed_is_counted_once_for_each(tmp_path: Path) -> None:
    guide, case = guidance(tmp_path), of("relu")
    own = set(of_case(case.graph))
    learn(guide, case, 3)
    learn(guide, case, 4, well=False)
    assert {guide.counts[name] for name in own} == {2}
    changed = guide.changed()
    ends = set(changed.features) - own
    assert ends == {f"{SCREENING[0].importer} Raised import"}, "it is a feature, and not kept in memory"
    assert changed.features == {**dict.fromkeys(own, 2), **dict.fromkeys(ends, 1)}
    assert changed.first == {**dict.fromkeys(own, 3), **dict.fromkeys(ends, 4)}
    assert guide.changed() == Observations({}, {}), "nothing since"


def test_frequent_features_and_operators_that_stop_an_importer_are_worth_less(tmp_path: Path) -> None:
    guide, frequent, stuck, fresh = guidance(tmp_path), of("relu"), of("sigmoid"), of("tanh")
    for _ in range(9):
        learn(guide, frequent)
        learn(guide, stuck, well=False)
    assert guide.worth(fresh.graph) > guide.worth(frequent.graph) > 0
    before = guide.worth(stuck.graph)
    guide.counts = Counts()
    assert guide.worth(fresh.graph) > guide.worth(stuck.graph) > before > 0, "nothing is given up for good"


def test_what_lanes_compiled_is_kept_for_the_next_run(tmp_path: Path) -> None:
    guide, case = guidance(tmp_path), of("relu")
    guide.chooser.end(case, Chosen({SCREENING[0]: ("relax relax.nn.relu float32 2",)}), 0.1)
    learn(guide, case, 7)
    changed = guide.changed()
    name = "compiled llvm relax.nn.relu float32 2"
    assert (changed.features[name], changed.first[name]) == (1, 7)
    assert set(changed.first) == set(changed.features)
    later = guidance(tmp_path)
    later.recall(changed)
    assert later.chooser.counts[name] == 1


@pytest.mark.slow
def test_the_case_that_is_run_promises_most_of_those_that_were_drawn(tmp_path: Path) -> None:
    guide, drawn = guidance(tmp_path), random_cases(Settings(tmp_path, 1), 1)
    guided = [guide.case(index) for index in range(30)]
    for case in guided:
        check(case)
    by_chance = [found for index in range(30) if (found := drawn(index))]
    one, other = (sum(guide.worth(case.graph) for case in cases) for cases in (guided, by_chance))
    assert one > 1.2 * other


@pytest.mark.slow
def test_more_operators_are_met_in_as_many_tests(tmp_path: Path) -> None:
    guide, drawn = guidance(tmp_path), random_cases(Settings(tmp_path, 1), 1)
    met: set[Typed] = set()
    by_chance: set[Typed] = set()
    for index in range(80):
        case, other = guide.case(index), drawn(index)
        assert other is not None
        learn(guide, case, index)
        met.update(typed_operators(case.graph))
        by_chance.update(typed_operators(other.graph))
    assert len(met) > 1.3 * len(by_chance)


def test_a_test_is_the_same_again_where_nothing_was_learnt(tmp_path: Path) -> None:
    one, two = (guidance(tmp_path).case(7) for _ in range(2))
    assert case_file.digest(one) == case_file.digest(two)
    assert case_file.digest(one) != case_file.digest(guidance(tmp_path, seed=2).case(7))


def test_the_best_that_a_test_has_left_is_a_candidate_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide, drawn = guidance(tmp_path), list[Graph]()
    draw = CaseSource.draw

    def counted(source: CaseSource, *arguments: Any) -> DrawnGraph:
        drawn.append((graph := draw(source, *arguments)).graph)
        return graph

    monkeypatch.setattr(CaseSource, "draw", counted)
    first = guide.case(7)
    assert (len(drawn), first.graph) == (CANDIDATES, max(drawn, key=guide.worth))
    learn(guide, first, 7)
    second = guide.case(8)
    assert len(drawn) == CANDIDATES + DRAWN_ANEW
    assert guide.worth(second.graph) == max(guide.worth(graph) for graph in drawn if graph != first.graph)


def test_a_test_with_large_tensors_leaves_nothing_and_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide, drawn = guidance(tmp_path), list[int]()
    guide.case(7)
    monkeypatch.setattr(CaseSource, "is_usual", lambda self, index, dialect: False)
    draw = CaseSource.draw

    def counted(source: CaseSource, *arguments: Any) -> DrawnGraph:
        drawn.append(arguments[1])
        return draw(source, *arguments)

    monkeypatch.setattr(CaseSource, "draw", counted)
    guide.case(8)
    guide.case(9)
    assert drawn == [8] * CANDIDATES + [9] * CANDIDATES


def test_only_the_case_that_is_run_gets_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = list[Graph](), random_graph._tensors

    def counted(source: ChoiceSource, graph: Graph, profile: Profile) -> dict[str, Array]:
        drawn.append(graph)
        return draw(source, graph, profile)

    monkeypatch.setattr(random_graph, "_tensors", counted)
    guidance(tmp_path).case(7)
    assert len(drawn) == 1


def test_the_next_run_goes_on_with_what_was_learnt(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    for index in range(8):
        learn(guide, generate(NumpySource(9, index)), index, well=index % 2 > 0)
    with Index(tmp_path) as written:
        written.write(State(1, campaign="me"), observations=guide.changed())
        for index in range(8):
            learn(guide, generate(NumpySource(9, index)), index)
        written.write(State(1, campaign="me"), observations=guide.changed())
        again = guidance(tmp_path)
        again.recall(written.observations())
    names = {name for index in range(8) for name in of_case(generate(NumpySource(9, index)).graph)}
    assert {name: again.counts[name] for name in names} == {name: guide.counts[name] for name in names}
    assert again.failure_rates.numbers == guide.failure_rates.numbers
    assert case_file.digest(again.case(8)) == case_file.digest(guide.case(8))


def test_a_case_that_a_user_adds_to_the_corpus_comes_first_and_unchanged(tmp_path: Path) -> None:
    given = of("conv2d")
    corpus.add(tmp_path, "given", given)
    guide = guidance(tmp_path)
    assert case_file.digest(guide.case(0)) == case_file.digest(given)
    assert case_file.digest(guide.case(1)) != case_file.digest(given)


def test_the_shares_of_the_routes_sum_to_one() -> None:
    assert all(sum(shares.values()) == pytest.approx(1) for shares in ROUTE_SHARES.values())


def test_dtypes_that_show_more_are_worth_more(tmp_path: Path) -> None:
    assert YIELD.keys() == {*DRAWN, NO_OPERAND}
    guide, worth = guidance(tmp_path), {}
    for index in range(300):
        case = of("relu", index)
        read = case.graph.types[case.graph.nodes[0].args[0]]
        if len(case.graph.nodes) == 1 and case.graph.nodes[0].form is Form.PLAIN:
            worth[read.dtype] = guide.worth(case.graph)
    assert {dtype: (worth[dtype] / worth[DType.FLOAT32]) ** 2 for dtype in worth} == pytest.approx(
        {dtype: YIELD[dtype] / YIELD[DType.FLOAT32] for dtype in worth}
    )
    assert len(worth) > 3
