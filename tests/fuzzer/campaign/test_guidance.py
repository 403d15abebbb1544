"""Guidance: what shows something new is kept and mutated, what is known loses its pull, and nothing learnt is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fuzzer.campaign.features import of_case
from fuzzer.campaign.guidance import Entry, Guidance, Met
from fuzzer.campaign.index import Index
from fuzzer.campaign.state import State
from fuzzer.settings import Settings
from generators import case_file
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case
from generators.ops import OPS
from generators.random_graph import generate


def guidance(folder: Path) -> Guidance:
    return Guidance(Settings(folder, 1, (), guided=True), 1)


def some_case(index: int) -> Case:
    return generate(NumpySource(9, index))


GIVEN = next(case for case in map(some_case, range(99)) if not case.graph.symbols)


def learn(guide: Guidance, index: int, *names: str, failed: bool = False, found: bool = False) -> tuple[str, ...]:
    return guide.learn(index, some_case(index), frozenset(names), failed=failed, found=found)


def test_a_case_is_kept_for_what_nobody_showed_before(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    assert learn(guide, 0, "a", "b") == ("a", "b")
    assert learn(guide, 1, "a") == ()
    assert learn(guide, 2, "a", "c") == ("c",)
    assert {entry.showed for entry in guide.entries.values()} == {("a", "b"), ("c",)}
    assert guide.counts == {"a": 3, "b": 1, "c": 1}
    kept = {path.name for path in guide.corpus.iterdir()}
    assert kept == set(guide.entries) == {case_file.digest(some_case(index))[:16] for index in (0, 2)}
    assert case_file.digest(case_file.read(guide.corpus / min(kept)))[:16] == min(kept)


def test_a_campaign_that_is_not_guided_counts_and_keeps_nothing(tmp_path: Path) -> None:
    guide = Guidance(Settings(tmp_path, 1, ()), 1)
    assert learn(guide, 0, "a", "b") == ("a", "b")
    assert (guide.counts, guide.entries) == ({"a": 1, "b": 1}, {})
    assert not guide.corpus.exists()


def test_every_case_is_valid_and_many_are_neighbours(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    for index in range(60):
        case = guide.case(index)
        check(case)
        guide.learn(index, case, frozenset(of_case(case)), failed=False, found=False)
    assert guide.novelty > 0.1, "everything is new: nothing is mutated"
    assert not any(" of " in guide.case(index).origin for index in range(60, 160))
    guide.novelty = 0.0
    origins = Counter(" of " in guide.case(index).origin for index in range(60, 160))
    assert origins[True] > 10
    assert origins[False] > 10


def test_rare_features_and_fresh_findings_have_energy_and_what_is_stuck_loses_it(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    guide.counts = {"common": 1000, "rare": 1}

    def energy(name: str, picked: int = 0, stuck: int = 0, fresh: bool = False) -> float:
        return guide._energy(Entry(tmp_path, (name,), picked, stuck, fresh))

    assert energy("rare") > 10 * energy("common")
    assert energy("common", fresh=True) > 5 * energy("common")
    assert energy("rare", picked=9) < energy("rare", picked=3) < energy("rare")
    assert energy("rare", picked=9, stuck=9) < energy("rare", picked=9) / 10
    assert energy("common", 500, 500) > 0, "nothing is lost for good"


def test_operators_that_known_bugs_stop_are_drawn_less_and_unmet_ones_more(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    often, stuck = OPS[0], OPS[1]
    guide.met = {op.name: Met(20) for op in OPS}
    guide.met[often.name], guide.met[stuck.name] = Met(20), Met(20, 20)
    unmet = OPS[2]
    del guide.met[unmet.name]
    drawn = Counter(op.name for seed in range(400) for op in guide._palette(NumpySource(seed), OPS))
    assert drawn[unmet.name] > 2 * drawn[often.name] > 2 * drawn[stuck.name]
    assert drawn[stuck.name] > 0


def test_the_operator_that_was_there_each_time_has_the_blame(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    bad, *good = (op.name for op in OPS[:9])
    for index, innocent in enumerate(good):
        learn(guide, 2 * index, f"op {innocent} float32 1")
        learn(guide, 2 * index + 1, f"op {bad} float32 1", f"op {innocent} float32 1", failed=True)
    assert guide.met[bad].stuck >= len(good) - 1
    assert sum(guide.met[name].stuck for name in good) <= 1


def test_a_neighbour_that_only_meets_what_is_known_counts_against_its_parent(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    learn(guide, 0, "a")
    (digest,) = guide.entries
    for index, (failed, found) in enumerate([(True, False), (True, True), (False, False)], 1):
        guide._parents[index] = digest
        guide.learn(index, some_case(0), frozenset(("a",)), failed=failed, found=found)
    assert (guide.entries[digest].picked, guide.entries[digest].stuck) == (3, 1)


def test_the_next_run_goes_on_with_what_was_learnt(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    for index in range(8):
        guide.learn(index, some_case(index), frozenset(of_case(some_case(index))), failed=index % 2 > 0, found=False)
    with Index(tmp_path) as written:
        written.write(State(1, campaign="me"), learnt=guide.changed())
        written.write(State(1, campaign="me"), learnt=guide.changed())  # nothing since
        again = guidance(tmp_path)
        again.recall(written.learnt())
    assert (again.counts, again.entries) == (guide.counts, guide.entries)
    assert set(again.met) == set(guide.met)


def test_cases_that_somebody_put_there_are_taken_in_and_lost_ones_forgotten(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    folder = guide.corpus / "given"
    folder.mkdir(parents=True)
    text, tensors = case_file.encode(GIVEN)
    (folder / case_file.JSON_NAME).write_bytes(text)
    (folder / case_file.TENSORS_NAME).write_bytes(tensors)
    with Index(tmp_path) as empty:
        guide.recall(empty.learnt())
    assert case_file.digest(guide.case(0)) == case_file.digest(GIVEN), "as it is, before all else"
    assert case_file.digest(guide.case(1)) != case_file.digest(GIVEN)
    picked = guide._picked(NumpySource(1))
    assert picked is not None
    assert (picked[0], case_file.digest(picked[1])) == ("given", case_file.digest(GIVEN))
    (folder / case_file.JSON_NAME).write_text("{")
    assert guide._picked(NumpySource(1)) is None
    assert guide.entries == {}
