"""What was seen to be fixed once is run again in both toolchains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import fakes
import pytest
from fakes import CASE, EXACT, TVM, correct, references

from fuzzer.difference.fixed import FOLDER, FixedFailures, is_confirmed
from fuzzer.difference.pair import Pair
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.child_process import GaveUp
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Frame, Outcome, Raised, Result, Skipped, Stage

RIGHT = EXACT[:1]
PAIR = Pair(replace(HOST, name="base"), HOST)
FRAMES = (Frame("python/tvm/relax/frontend/torch/base_fx_graph_translator.py", 7, "_relu"),)
RAISED = Raised(Stage.IMPORT, "ValueError", "no rule", FRAMES)
ANOTHER = Raised(Stage.IMPORT, "ValueError", "another message", FRAMES)
WRONG = fakes.Ran((correct(RIGHT).outputs[0] + 1,))
SIGHTED = Finding(Kind.INTERNAL_ERROR, Component.TVM, TVM, Stage.IMPORT, RAISED)


@dataclass
class Runner:
    """Each run takes the next pair of outcomes: that of the base, and that of the patched toolchain. Where there is
    none, the run is given up."""

    pairs: list[tuple[Outcome, Outcome]]
    lanes: list[LaneSpec] = field(default_factory=list)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if not self.pairs:
            raise GaveUp
        base, patched = self.pairs.pop(0)
        self.lanes += lanes
        right = references(*RIGHT)
        mine = {lane: base if lane.toolchain == "base" else patched for lane in lanes if lane.name == TVM.name}
        return Result({lane: mine.get(lane) or right.get(lane) or correct(RIGHT) for lane in lanes})


def confirmed(folder: Path, runner: Runner, sighted: Finding = SIGHTED, seconds: float = 60.0) -> FindingDoc:
    fixed = FixedFailures(folder, PAIR)
    fixed.add(CASE, sighted, {"tvm": "1"})
    fixed.confirm(runner.run_fresh, lambda: False, seconds)
    (doc,) = fixed.docs.values()
    assert finding_file.read(folder / FOLDER / doc.slug) == doc, "the folder says the same"
    return doc


OK = correct(RIGHT)


def test_three_runs_confirm_it(tmp_path: Path) -> None:
    runner = Runner([(RAISED, OK)] * 3)
    doc = confirmed(tmp_path, runner)
    assert (doc.confirmed, doc.flaky, is_confirmed(doc)) == ("3 of 3", False, True)
    assert [lane.toolchain for lane in runner.lanes if lane.name == TVM.name] == ["host", "base"] * 3


@pytest.mark.parametrize(
    ("base", "patched"),
    [
        (OK, OK),
        (RAISED, RAISED),
        (RAISED, WRONG),
        (ANOTHER, OK),
        (RAISED, Skipped("no memory", environment=True)),
        (RAISED, Broken(Stage.IMPORT, "KeyError")),
    ],
)
def test_one_run_that_shows_something_else_makes_it_unsure(tmp_path: Path, base: Outcome, patched: Outcome) -> None:
    doc = confirmed(tmp_path, Runner([(RAISED, OK), (base, patched), (RAISED, OK)]))
    assert (doc.confirmed, doc.flaky, is_confirmed(doc)) == ("2 of 3", True, False)


def test_a_lane_that_an_investigation_ended_early_runs_to_its_end(tmp_path: Path) -> None:
    runner = Runner([(RAISED, OK)] * 3)
    early = replace(TVM, until=Stage.IMPORT)
    doc = confirmed(tmp_path, runner, replace(SIGHTED, lane=early))
    assert is_confirmed(doc)
    assert {lane.until for lane in runner.lanes} == {None}


def test_runs_that_are_given_up_leave_it_unconfirmed(tmp_path: Path) -> None:
    doc = confirmed(tmp_path, Runner([(RAISED, OK)]))
    assert not is_confirmed(doc)
    assert doc.confirmed == "0 of 0"


def test_no_run_begins_after_the_time(tmp_path: Path) -> None:
    runner = Runner([])
    assert not is_confirmed(confirmed(tmp_path, runner, seconds=0.0))
    assert runner.lanes == []
