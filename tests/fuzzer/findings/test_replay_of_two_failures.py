"""A lane that does two things wrong: the oracles tell the worse one, and a replay must find the one that was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from records import record

from fuzzer.findings.replay import replay
from fuzzer.system.exit_codes import Exit
from generators.graph import Case
from oracles.finding import Kind, SideEffect
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result

RIGHT = (fakes.expect([1.0, -2.0]),)


class Lane:
    """Gives an input as an output, of another dtype than PyTorch's."""

    def __init__(self, sin: Outcome) -> None:
        self.sin = sin

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        outcomes = {**fakes.references(*RIGHT), fakes.TVM: self.sin}
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
    doc = record(fakes.CASE, Kind.ALIASED_OUTPUT, fakes.TVM, SideEffect(aliases=((0, "x0"),))).doc
    assert replay(Lane(sin).run_fresh, doc, fakes.CASE, (fakes.TVM,), 1).exit is verdict
