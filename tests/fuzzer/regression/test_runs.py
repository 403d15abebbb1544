"""How the lanes of a case end, and how often a case runs before a change counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import fakes
import pytest
from regression_by_hand import EXPORT, FX, corpus_of, numbered_case, small_corpus

from fuzzer.regression.compare import Change
from fuzzer.regression.record import Entry, name_of
from fuzzer.regression.rerun import rerun
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, ends_of, failure_id
from fuzzer.signature import signature_of
from fuzzer.toolchains.toolchain import HOST, GraphLanguage
from generators.graph import Case, Invalid
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Skipped, Stage, Unsupported

RIGHT_RUN: Outcome = fakes.correct(fakes.TWO_OUTPUTS)
REFUSAL = fakes.raised(Stage.IMPORT, "ValueError", "no layout", fakes.REFUSAL)
UNSUPPORTED_HERE = Unsupported(Stage.IMPORT, "no")


class FakeRunner:
    """Right lanes, but for what `sins` has for a run: the outcomes of its lanes, run after run."""

    def __init__(self, *sins: Mapping[LaneSpec, Outcome]) -> None:
        self.sins, self.runs = list(sins), list[str]()

    def _run(self, how: str, lanes: Sequence[LaneSpec]) -> Result:
        outcomes: dict[LaneSpec, Outcome] = {**fakes.references(*fakes.TWO_OUTPUTS)}
        sins = self.sins[min(len(self.runs), len(self.sins) - 1)] if self.sins else {}
        self.runs.append(how)
        return Result({lane: outcomes.get(lane) or sins.get(lane, RIGHT_RUN) for lane in lanes}, cpu_seconds=1.0)

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._run("used", lanes)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        return self._run("fresh", lanes)


def test_each_end_has_its_word() -> None:
    runner = FakeRunner({EXPORT: REFUSAL, FX: UNSUPPORTED_HERE})
    ends = ends_of(runner.run, fakes.CASE, (EXPORT, FX))
    (failure,) = ends.findings
    assert ends.ends == {EXPORT: failure, FX: UNSUPPORTED}
    assert ends_of(FakeRunner().run, fakes.CASE, (EXPORT, FX)).ends == {EXPORT: RIGHT, FX: RIGHT}


def test_a_lane_that_the_machine_cannot_run_has_no_end() -> None:
    assert ends_of(FakeRunner({EXPORT: Skipped("no disk")}).run, fakes.CASE, (EXPORT,)).ends == {}


def test_a_change_counts_if_three_runs_show_it() -> None:
    kept = small_corpus()
    only = replace(kept, entries=kept.entries[:1])
    runner = FakeRunner({EXPORT: REFUSAL, FX: UNSUPPORTED_HERE})
    (changed,) = rerun(runner, only, HOST, 1)
    assert [(each.lane, each.change) for each in changed] == [("relax-export-llvm", Change.WORSE)]
    assert runner.runs == ["used", "fresh", "fresh"]


def test_a_change_that_a_fresh_process_does_not_show_does_not_count() -> None:
    kept = small_corpus()
    only = replace(kept, entries=kept.entries[:1])
    right = {FX: UNSUPPORTED_HERE}
    runner = FakeRunner({**right, EXPORT: REFUSAL}, right)
    assert list(rerun(runner, only, HOST, 1)) == [[]]
    assert runner.runs == ["used", "fresh"]


def test_a_toolchain_that_runs_no_lane_is_refused() -> None:
    case = numbered_case(1)
    kept = corpus_of(Entry(name_of(case), ["add"], "", right=["relax-fx-llvm"]), cases={name_of(case): case})
    with pytest.raises(Invalid, match="runs none of the lanes"):
        list(rerun(FakeRunner(), kept, replace(HOST, name="old", kind=GraphLanguage.RELAY), 1))


def test_a_failure_keeps_its_id_where_another_function_raises_it() -> None:
    elsewhere = replace(fakes.REFUSAL, function="_conv3d")
    both = [
        Finding(Kind.REJECTED, Component.TVM, EXPORT, Stage.IMPORT, fakes.raised(Stage.IMPORT, "E", "no", frame))
        for frame in (fakes.REFUSAL, elsewhere)
    ]
    assert signature_of(both[0]) != signature_of(both[1])
    assert failure_id(both[0]) == failure_id(both[1])
