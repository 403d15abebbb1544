"""A corpus whose changed lanes are recorded anew."""

from __future__ import annotations

from pathlib import Path

from regression_by_hand import EXPORT, FAILURE, FX, KNOWN, small_corpus

from fuzzer.regression import record
from fuzzer.regression.compare import changes
from fuzzer.regression.recorded_anew import recorded_anew, write_anew
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, Ends
from oracles.finding import Component, Finding, Kind, SideEffect
from oracles.lane import LaneSpec
from oracles.outcome import Stage

OTHER = "ffffffffffff"
SHARED = Finding(Kind.ALIASED_OUTPUT, Component.TVM, EXPORT, Stage.RUN, SideEffect(aliases=((0, "x0"),)))
VERSIONS = {"tvm": "0.28.0"}


def ends(now: dict[LaneSpec, str]) -> Ends:
    return Ends(now, {OTHER: SHARED}, frozenset(), 0.0)


def test_a_corpus_says_how_lanes_end_now_and_a_run_that_ends_so_changes_nothing(tmp_path: Path) -> None:
    kept = small_corpus()
    first, second = kept.entries
    now = {first.case: ends({EXPORT: OTHER, FX: RIGHT}), second.case: ends({EXPORT: UNSUPPORTED})}
    done = [each for entry in kept.entries for each in changes(entry, kept.lanes, now[entry.case])]
    record.write(tmp_path, *recorded_anew(kept, done, VERSIONS), kept.cases)
    anew = record.read(tmp_path)
    assert [(entry.right, entry.unsupported, entry.fails) for entry in anew.entries] == [
        ([FX.name], [], {EXPORT.name: OTHER}),
        ([], [EXPORT.name], {}),
    ]
    assert {id: known.kind for id, known in anew.description.failures.items()} == {OTHER: Kind.ALIASED_OUTPUT}
    assert anew.description.versions == VERSIONS
    assert [each for entry in anew.entries for each in changes(entry, anew.lanes, now[entry.case])] == []


def test_a_lane_that_did_not_run_keeps_its_end_and_a_known_failure_its_family() -> None:
    kept = small_corpus()
    done = [each for entry in kept.entries for each in changes(entry, kept.lanes, ends({}))]
    description, entries = recorded_anew(kept, done, VERSIONS)
    assert entries == list(kept.entries)
    assert description.failures == {FAILURE: KNOWN}


def test_lanes_that_ran_are_counted_and_without_any_the_corpus_stays(tmp_path: Path) -> None:
    """The versions of packages too: they are those of the runs whose ends are recorded."""
    kept = small_corpus()
    record.write(tmp_path, kept.description, kept.entries, kept.cases)
    missing = [each for entry in kept.entries for each in changes(entry, kept.lanes, ends({}))]
    assert len(missing) == 3
    assert write_anew(tmp_path, kept, missing, VERSIONS) == 0
    assert record.read(tmp_path).description == kept.description
    first, _ = kept.entries
    now = changes(first, kept.lanes, ends({EXPORT: OTHER}))
    assert write_anew(tmp_path, kept, [*now, *missing], VERSIONS) == 1
    assert record.read(tmp_path).description.versions == VERSIONS
