"""All oracles in their order, and their judgement. An oracle is a pure function (case, outcomes) -> findings."""

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Case
from oracles.against_export import against_export
from oracles.against_onnxruntime import against_onnxruntime
from oracles.against_torch import against_torch
from oracles.agreement import agreement
from oracles.aliased_outputs import aliased_outputs
from oracles.bloat import bloat
from oracles.checker_gap import checker_gap
from oracles.crash import crash
from oracles.dearer_than_base import dearer_than_base
from oracles.finding import Finding, Kind, Oracle
from oracles.fresh_process import fresh_process
from oracles.gradient_equals_autograd import gradient_equals_autograd
from oracles.kernel_judges import blamed, kernel_judges
from oracles.lane import LaneSpec
from oracles.lifted_equals_unlifted import lifted_equals_unlifted
from oracles.memory_safety import memory_safety
from oracles.modified_inputs import modified_inputs
from oracles.onnx_files import files_to_confirm, is_justified
from oracles.outcome import IllFormed, Outcomes
from oracles.passes_change_nothing import passes_change_nothing
from oracles.round_trips import round_trips
from oracles.second_run import second_run
from oracles.slow import slow
from oracles.symbolic_equals_static import symbolic_equals_static
from oracles.well_formed import well_formed

ORACLES: tuple[Oracle, ...] = (
    # first, because an ill-formed module explains every later failure: it may crash, hang or compute anything
    well_formed,
    # a lane without a result has nothing to compare
    crash,
    # what a lane reads outside of its tensors is chance, and so is its result
    memory_safety,
    # a lane that changes its inputs gets other inputs in its second run, and so do the lanes that run after it
    modified_inputs,
    # a lane whose result changes from run to run has no result to compare
    second_run,
    fresh_process,
    # comparisons with the plain sibling: they name the pass or option at fault, which a comparison with PyTorch cannot
    round_trips,
    passes_change_nothing,
    lifted_equals_unlifted,
    symbolic_equals_static,
    # comparisons with the references
    against_onnxruntime,
    against_export,
    gradient_equals_autograd,
    against_torch,
    agreement,
    # the result is right, but costs too much or shares memory
    aliased_outputs,
    bloat,
    slow,
    dearer_than_base,
    # programs other than the case's own
    checker_gap,
)
"""All oracles, in the order in which they judge a lane.

What a later oracle finds on a lane may be a consequence of what an earlier one found."""


def judge_all(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """Yield at most one finding per lane, from the first oracle that objects to the lane.

    Each gap in the checker is a finding of its own, because each is about another program. TVM is not blamed for an
    ONNX file that no other reader has confirmed, nor for what only one driver of kernels shows.
    """
    judged: set[LaneSpec] = set()
    reported = _reported(case, outcomes)
    for finding in reported:
        if finding.kind is Kind.CHECKER_GAP:
            yield finding
        elif finding.lane not in judged:
            judged.add(finding.lane)
            yield _with_what_follows(finding, reported)


def _reported(case: Case, outcomes: Outcomes) -> list[Finding]:
    """What the oracles object to, of the component that is at fault. What nobody has confirmed is left out."""
    objected = list(objections(case, outcomes))
    found = (blamed(objection, objected, outcomes) for objection in objected)
    return [finding for finding in found if finding is not None and is_justified(finding, outcomes)]


NO_CONSEQUENCES = (Kind.BLOAT, Kind.SLOW, Kind.ALIASED_OUTPUT, Kind.CHECKER_GAP)
"""Kinds of failures that no broken module explains."""


def _with_what_follows(finding: Finding, reported: list[Finding]) -> Finding:
    """An ill-formed module with the failure of TVM that its lane shows then: what explains a failure does not hide
    it."""
    if not isinstance(finding.evidence, IllFormed):
        return finding
    same = [each for each in reported if (each.lane, each.component) == (finding.lane, finding.component)]
    later = (each.kind for each in same if each.kind not in (Kind.ILL_FORMED, *NO_CONSEQUENCES))
    return replace(finding, evidence=replace(finding.evidence, follows=str(next(later, ""))))


def unconfirmed_files(case: Case, outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Return one lane for each ONNX file that TVM would be blamed for and that other readers must run first."""
    return files_to_confirm(objections(case, outcomes), outcomes)


def judges_of_kernels(case: Case, outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Return the lanes that must run before TVM is blamed for what a driver of kernels shows."""
    return kernel_judges(objections(case, outcomes), outcomes)


def objections(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """Yield what each oracle objects to, in the order of the oracles, also on lanes that an earlier one has judged."""
    for oracle in ORACLES:
        yield from oracle(case, outcomes)


__all__ = ["ORACLES", "judge_all", "judges_of_kernels", "objections", "unconfirmed_files"]
