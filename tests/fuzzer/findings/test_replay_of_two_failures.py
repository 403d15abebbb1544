"""A lane that does two things wrong: the oracles tell the worse one, and a replay must find the one that was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import fakes
import pytest
from records import record

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.replay import replay
from fuzzer.system.exit_codes import Exit
from fuzzer.triage import undisturbed
from generators.graph import Case
from oracles.finding import Kind, SideEffect
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Outcomes, Ran, Result, Skipped

RIGHT = (fakes.expect([1.0, -2.0]),)


class Lane:
    """Gives an input as an output, of another dtype than PyTorch's."""

    def __init__(self, sin: Outcome, others: Outcomes = MappingProxyType({})) -> None:
        self.sin, self.others = sin, others

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        outcomes = {**fakes.references(*RIGHT), fakes.TVM: self.sin, **self.others}
        return Result({lane: outcomes.get(lane, fakes.correct(RIGHT)) for lane in lanes})


def aliased(ran: Ran) -> Ran:
    return replace(ran, facts=replace(ran.facts, aliases=((0, "x0"),)))


@pytest.mark.parametrize(
    ("sin", "verdict"),
    [
        (aliased(fakes.wrong_dtype(RIGHT)), Exit.SAME),
        (aliased(fakes.correct(RIGHT)), Exit.SAME),
        (fakes.wrong_dtype(RIGHT), Exit.DIFFERENT),
        (fakes.correct(RIGHT), Exit.GONE),
    ],
)
def test_the_failure_that_was_saved_is_looked_for(sin: Outcome, verdict: Exit) -> None:
    doc = doc_of_alias()
    assert replay(Lane(sin).run_fresh, doc, fakes.CASE, (fakes.TVM,), 1).exit is verdict


@pytest.mark.parametrize("lacking", [fakes.TVM, fakes.TORCH, fakes.TORCH_F64])
def test_what_the_machine_could_not_run_is_not_gone(lacking: LaneSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the lane nor what judges it."""
    monkeypatch.setattr(undisturbed, "PAUSES", (0.0,))
    full = Skipped("less than 0.50 GB of the disk are free", environment=True)
    done = replay(Lane(fakes.correct(RIGHT), {lacking: full}).run_fresh, doc_of_alias(), fakes.CASE, (fakes.TVM,), 1)
    assert done.exit is Exit.ENVIRONMENT
    assert full.reason in done.runs[0].text


def doc_of_alias() -> FindingDoc:
    return record(fakes.CASE, Kind.ALIASED_OUTPUT, fakes.TVM, SideEffect(aliases=((0, "x0"),))).doc
