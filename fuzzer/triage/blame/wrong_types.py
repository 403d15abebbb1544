"""Blame for a module in which a value has another type than in the model: the converter that gave the type is at fault,
wherever the failure shows."""

from __future__ import annotations

from fuzzer.signature.blame import FOLLOWS_FROM_TYPE, Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.blame.modules import converter_of, mistyped
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.proposals import checked
from fuzzer.triage.reducers.base import Subject, cut
from generators.dialect import dialect_named
from generators.graph import Case, Node
from oracles.trace import Trace


def blame_result_types(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the frontend if the imported module declares other result types than the reference gives."""
    declared, right = whole.trace.types, whole.types
    wrong = [(one, other) for one, other in zip(declared, right, strict=False) if one and one != other]
    if not right or not declared or (len(declared) == len(right) and not wrong):
        return None
    one, other = wrong[0] if wrong else (f"{len(declared)} results", f"{len(right)} results")
    reference = dialect_named(context.lane.dialect).words.reference
    evidence = f"The imported module declares {one} where {reference} gives {other}"
    made, found = whole.trace.mistyped, mistyped(whole.trace, evidence)
    if made is None or found is None:
        return Blame(Place.FRONTEND, operator, converter_of(whole.trace, operator), evidence, after=whole.trace.after)
    culprit, with_operator = found
    node = _node_at_fault(context.case, whole.trace)
    evidence = evidence if made.value in context.case.graph.outputs else with_operator
    return Blame(Place.FRONTEND, node.title if node else operator, culprit, evidence, after=whole.trace.after)


def blame_first_wrong_type(context: BlameContext, trace: Trace, evidence: str = "") -> Blame | None:
    """Blame the first converter that gave another type than the model has, if the failure follows from that.

    evidence  what else is known, as a sentence without a full stop
    """
    node, found = _node_at_fault(context.case, trace), mistyped(trace, evidence)
    if node is None or found is None:
        return None
    culprit, evidence = found
    if len(context.case.graph.nodes) > 1:
        if not _is_right_without(context, node):
            return None
        evidence += f": {FOLLOWS_FROM_TYPE}"
    return Blame(Place.FRONTEND, node.title, culprit, evidence, after=trace.after)


def _node_at_fault(case: Case, trace: Trace) -> Node | None:
    """Return the node of the case whose result is the first with a wrong type."""
    name = trace.mistyped.value if trace.mistyped else ""
    return next((node for node in case.graph.nodes if name in (value.name for value in node.results)), None)


def _is_right_without(context: BlameContext, node: Node) -> bool:
    """Whether the failure does not show where the results of a node are inputs, with the numbers of the reference."""
    computed = computed_values(context.counted_run, context.case)
    rest = cut(Subject(context.case, context.lane, computed), frozenset(value.name for value in node.results))
    if rest is None or not rest.graph.nodes:
        return rest is not None  # nothing of the case is left that could fail
    valid = checked(rest)
    if valid is None:
        return False
    observed = context.observe(context.lane, valid.case)
    return observed.observation.valid and not observed.fails
