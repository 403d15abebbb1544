"""torch.export's program, run by PyTorch itself, says what the model says.

Where it does not, PyTorch disagrees with itself: mostly the decomposition of an operator is another function. What TVM
makes of such a program is not judged: nobody knows what it should be.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.against_torch import comparable_results, judge
from oracles.finding import Component, Finding, exported_program_of, runs_exported_program
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import expected
from oracles.transforms import rounding_of


def against_export(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    right = expected(outcomes)
    for lane, out in outcomes.items():
        if (
            right is not None
            and runs_exported_program(lane)
            and isinstance(out, Ran)
            and (found := judge(out.outputs, right))
        ):
            kind, evidence = found
            yield Finding(kind, Component.EXPORTER, lane, Stage.RUN, evidence)


def disputed_programs(outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Of each exported program a lane that does not give PyTorch's numbers, where PyTorch has not run the program."""
    right = expected(outcomes)
    asked = {exported_program_of(lane) for lane in outcomes if runs_exported_program(lane)}
    doubts = {
        exported_program_of(lane): lane
        for lane, outputs in comparable_results(outcomes).items()
        if right is not None and judge(outputs, right, rounding_of(lane.passes))
    }
    return tuple(lane for program, lane in doubts.items() if program is not None and program not in asked)
