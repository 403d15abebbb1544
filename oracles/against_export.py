"""A program of torch.export, run by PyTorch itself, gives the model's results.

Where it does not, PyTorch disagrees with itself. In most such cases the decomposition of an operator computes another
function. What TVM computes from such a program is not judged: no right result is known for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.against_torch import comparable_results
from oracles.compare import judge
from oracles.finding import Component, Finding, exported_program_of, runs_exported_program
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import difference, expected


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
    """Return one lane for each exported program that PyTorch has not run and on which a lane disagrees with PyTorch."""
    already_run = {exported_program_of(lane) for lane in outcomes if runs_exported_program(lane)}
    doubts = {
        exported_program_of(lane): lane
        for lane, outputs in comparable_results(outcomes).items()
        if difference(lane, outputs, outcomes)
    }
    return tuple(lane for program, lane in doubts.items() if program is not None and program not in already_run)
