"""Tier 1 of a test: each importer reads the case, TVM checks the module, and difftvm evaluates it. Nothing is compiled.

What fails at the export, at the import or in TVM's checker is a failure of the plain lane of that importer, which would
fail in the same way. A difference in numbers is a hint: the plain lane is then compiled, and the oracles judge that.
"""

from __future__ import annotations

from enum import StrEnum

from fuzzer.lanes import needed, plain_of
from generators.graph import Array
from oracles.against_torch import judge
from oracles.finding import runs_exported_program
from oracles.lane import LaneSpec, is_tier_1
from oracles.onnx_files import readings_of_its_file
from oracles.outcome import (
    FAILURES,
    Broken,
    Built,
    Facts,
    Outcome,
    Outcomes,
    Raised,
    Ran,
    Result,
    Skipped,
    Stage,
    Unsupported,
    facts_of,
)
from oracles.reference import Expected, expected


class ImportVerdict(StrEnum):
    """What tier 1 says of an importer."""

    FAILED = "failed"  # no module, or an ill-formed one
    RIGHT = "right"  # the evaluated module gives PyTorch's result
    WRONG = "wrong"  # it gives another result, or contradicts itself or the graph
    UNDECIDED = "undecided"  # the evaluation has no result, or there is nothing to compare it with


def references(lanes: tuple[LaneSpec, ...]) -> tuple[LaneSpec, ...]:
    """The references that the lanes are judged with. PyTorch runs an exported program only where a lane disagrees."""
    found = dict.fromkeys(each for lane in lanes for each in needed(lane))
    return tuple(each for each in found if not runs_exported_program(each))


def verdicts(outcomes: Outcomes) -> dict[LaneSpec, ImportVerdict]:
    """The verdict of each lane of tier 1."""
    return {lane: _verdict(lane, outcomes) for lane in outcomes if is_tier_1(lane)}


def _verdict(lane: LaneSpec, outcomes: Outcomes) -> ImportVerdict:
    outcome, facts = outcomes[lane], facts_of(outcomes[lane])
    if facts.ill_formed is not None:
        return ImportVerdict.FAILED
    if facts.trace is not None and (facts.trace.outside or facts.trace.contradiction):
        return ImportVerdict.WRONG
    if facts.trace is not None and facts.trace.other_types:
        return _unless_the_file_is_wrong(lane, outcomes)
    match outcome:
        case Ran(outputs=outputs):
            return _compared(lane, outputs, outcomes)
        case Unsupported() | Skipped():
            return ImportVerdict.FAILED
        case _ if isinstance(outcome, FAILURES) and outcome.stage is not Stage.RUN:
            return ImportVerdict.FAILED
        case _:
            return ImportVerdict.UNDECIDED  # an evaluation that ends with its process says nothing about TVM


def _compared(lane: LaneSpec, outputs: tuple[Array, ...], outcomes: Outcomes) -> ImportVerdict:
    right = expected(outcomes)
    if right is None:
        return ImportVerdict.UNDECIDED
    if judge(outputs, right) is None:
        return ImportVerdict.RIGHT
    return _unless_the_file_is_wrong(lane, outcomes)


def _unless_the_file_is_wrong(lane: LaneSpec, outcomes: Outcomes) -> ImportVerdict:
    """The verdict on a module that differs from PyTorch: undecided where onnxruntime has read the same file, and gives
    another result than PyTorch too."""
    right, read = expected(outcomes), readings_of_its_file(lane, outcomes)
    if (
        lane.importer.row.reads.is_exported_file
        and read
        and (right is None or all(judge(outputs, right) for outputs in read))
    ):
        return ImportVerdict.UNDECIDED
    return ImportVerdict.WRONG


def on_plain_lanes(result: Result) -> Result:
    """The result with each lane of tier 1 that failed replaced by the plain lane of its importer, and without the
    values of the others, which no oracle may judge."""
    found = verdicts(result.outcomes)
    outcomes: dict[LaneSpec, Outcome] = {}
    for lane, outcome in result.outcomes.items():
        if lane not in found or isinstance(outcome, Broken):
            outcomes[lane] = outcome
        elif found[lane] is ImportVerdict.FAILED:
            outcomes[plain_of(lane)] = _without_values(outcome)
        else:
            facts = facts_of(outcome)  # what the evaluation needed says nothing about compiled code
            outcomes[lane] = Built(Facts(checked=facts.checked, behaviour=facts.behaviour, reached=facts.reached))
    return Result(outcomes, result.stage_cpu, result.cpu_seconds)


def _without_values(outcome: Outcome) -> Outcome:
    return Built(outcome.facts) if isinstance(outcome, Ran) else outcome


def evaluation_disagrees(tier_1: Outcomes, outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """The plain lanes for whose module the evaluation is wrong: a bug of difftvm.

    The evaluation raised an exception; or its values, or the shapes that it expects, are wrong by PyTorch, and compiled
    code is right. A module that reads outside of a tensor, or declares other types than the graph has, is left out:
    there compiled code may be right by chance."""
    right, found = expected(outcomes), verdicts(tier_1)
    return tuple(plain_of(lane) for lane in found if _is_mistaken(lane, found[lane], tier_1, outcomes, right))


def _is_mistaken(
    lane: LaneSpec, verdict: ImportVerdict, tier_1: Outcomes, outcomes: Outcomes, right: tuple[Expected, ...] | None
) -> bool:
    outcome, compiled = tier_1[lane], outcomes.get(plain_of(lane))
    if isinstance(outcome, Raised | Broken) and outcome.stage is Stage.RUN:
        return True
    trace = facts_of(outcome).trace
    may_be_refuted = isinstance(outcome, Ran) or (trace is not None and bool(trace.contradiction))
    if verdict is not ImportVerdict.WRONG or not may_be_refuted or not isinstance(compiled, Ran) or right is None:
        return False
    return judge(compiled.outputs, right) is None
