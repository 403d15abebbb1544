"""What counts as wrong. Each oracle is one equation, a pure function (case, outcomes) -> findings."""

from collections.abc import Iterator

from generators.graph import Case
from oracles.against_export import against_export
from oracles.against_onnxruntime import against_onnxruntime
from oracles.against_torch import against_torch
from oracles.agreement import agreement
from oracles.aliased_outputs import aliased_outputs
from oracles.bloat import bloat
from oracles.checker_gap import checker_gap
from oracles.crash import crash
from oracles.finding import Finding, Kind, Oracle
from oracles.fresh_process import fresh_process
from oracles.gradient_equals_autograd import gradient_equals_autograd
from oracles.lane import LaneSpec
from oracles.lifted_equals_unlifted import lifted_equals_unlifted
from oracles.modified_inputs import modified_inputs
from oracles.onnx_files import files_to_confirm, is_justified
from oracles.outcome import Outcomes
from oracles.passes_change_nothing import passes_change_nothing
from oracles.round_trips import round_trips
from oracles.second_run import second_run
from oracles.slow import slow
from oracles.symbolic_equals_static import symbolic_equals_static
from oracles.well_formed import well_formed

ORACLES: tuple[Oracle, ...] = (
    # what explains all that follows: an ill-formed module may fail, hang or compute anything
    well_formed,
    # no result: nothing to compare
    crash,
    # a lane that changes its inputs has another second run, and its numbers depend on who ran before
    modified_inputs,
    # a lane without a stable result computes nothing that could be compared
    second_run,
    fresh_process,
    # against the sibling: these name what is to blame, which a comparison with PyTorch does not
    round_trips,
    passes_change_nothing,
    lifted_equals_unlifted,
    symbolic_equals_static,
    # against the references
    against_onnxruntime,
    against_export,
    gradient_equals_autograd,
    against_torch,
    agreement,
    # the result is right, at a price
    aliased_outputs,
    bloat,
    slow,
    # other programs than the case's own
    checker_gap,
)
"""In this order: of what an oracle further up says of a lane, all further down is perhaps only a consequence."""


def judge_all(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """At most one finding per lane: the first oracle that objects to it has the word. Gaps in the checker are each a
    finding of their own, for each is about another program. TVM is not blamed for a file that nobody has confirmed."""
    judged: set[LaneSpec] = set()
    for finding in _objections(case, outcomes):
        if not is_justified(finding, outcomes):
            continue
        if finding.kind is Kind.CHECKER_GAP:
            yield finding
        elif finding.lane not in judged:
            judged.add(finding.lane)
            yield finding


def unconfirmed_files(case: Case, outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """One lane for each ONNX file that TVM would be blamed for, and that other readers must look at first."""
    return files_to_confirm(_objections(case, outcomes), outcomes)


def _objections(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for oracle in ORACLES:
        yield from oracle(case, outcomes)


__all__ = ["ORACLES", "judge_all", "unconfirmed_files"]
