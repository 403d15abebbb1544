"""Finds a case that people would write among those that show the failure of a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzzer.isolate.fleet import Lab
from fuzzer.signature import Signature, signature_of
from fuzzer.triage.investigate import (
    EXPENSIVE_KINDS,
    Investigated,
    RunSanitizer,
    Sighting,
    confirm_as_it_is,
    may_run_in_used_children,
)
from fuzzer.triage.natural.changes import CHANGES, changed, less_odd
from fuzzer.triage.natural.oddity import oddity
from fuzzer.triage.reproduce import try_candidate, up_to_failure
from fuzzer.triage.scope.drawing import one_call
from fuzzer.triage.scope.find import cheaper
from fuzzer.triage.scope.neighbours import is_valid
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Statement
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case, Graph, Invalid
from generators.renumber import in_order_of_use, renumbered
from oracles.finding import Finding, Kind

MOST_QUESTIONS = 20

DRAWN, TRIED = 60, 5
"""How many cases of a single operator are drawn, and how many of them run, the least odd first."""

NOT_LOOKED_FOR = EXPENSIVE_KINDS | {Kind.SLOW, Kind.BLOAT, Kind.CHECKER_GAP}
"""Kinds whose runs are expensive, or whose limits depend on the case."""

Fails = Callable[[Case], bool]


def natural(
    lab: Lab,
    case: Case,
    finding: Finding,
    saved: Signature,
    run_sanitizer: RunSanitizer,
    statement: Statement | None = None,
) -> Investigated | None:
    """Return the least odd case that was found to show the failure of the reduced `case`, confirmed and blamed as that
    was. `saved` is the final signature of the finding, and `statement` a certain statement of its scope.

    Return None where no case less odd shows it, and where the one that does shows it as another kind, such as a wrong
    value for a read out of bounds, or has something else to blame.
    """
    if finding.kind in NOT_LOOKED_FOR or case.graph.symbols:
        return None
    found = least_odd(case, _fails(lab, case, finding), statement)
    if found is case:
        return None
    sighting = Sighting(signature_of(finding), finding, (finding.lane,))
    confirmed = confirm_as_it_is(lab, renumbered(in_order_of_use(found)), sighting, run_sanitizer)
    if confirmed is None or confirmed.finding.kind is not finding.kind:
        return None
    return confirmed if confirmed.signature.blamed == saved.blamed else None


def _fails(lab: Lab, case: Case, finding: Finding) -> Fails:
    finding = cheaper(lab, case, finding)
    signature, lane = signature_of(finding), finding.lane
    run = up_to_failure(lab.run if may_run_in_used_children(finding) else lab.run_fresh, signature)

    def fails(other: Case) -> bool:
        found = try_candidate(run, other, lane, signature)
        return found.same and any(each.kind is finding.kind for each in found.findings)

    return fails


def least_odd(case: Case, fails: Fails, statement: Statement | None = None) -> Case:
    """Return the least odd case that fails, as far as `MOST_QUESTIONS` runs can tell, or the given one.

    First come whole cases: the given one after all changes, and random calls of its operator. Then each change alone.
    """
    source, left = NumpySource(0), MOST_QUESTIONS

    def shows(proposal: Case) -> bool:
        nonlocal left
        if left == 0 or (statement is not None and not statement.holds(properties(proposal))):
            return False
        left -= 1
        return fails(proposal)

    whole = sorted(_whole_cases(source, case), key=oddity)
    best = next(filter(shows, whole[:TRIED]), case)
    while (better := next(filter(shows, _single_changes(source, best)), None)) is not None:
        best = better
    return best


def _whole_cases(source: ChoiceSource, case: Case) -> Iterator[Case]:
    """Yield the case after all changes, and drawn ones that have the same calls, all less odd than the case."""
    for each in (case, *_drawn(source, case)):
        proposal = changed(source, each)
        if oddity(proposal) < oddity(case):
            yield proposal


def _drawn(source: ChoiceSource, case: Case) -> Iterator[Case]:
    """Yield calls of the operator of a case of one call, as its row draws them."""
    if len(case.graph.nodes) != 1:
        return
    (node,) = case.graph.nodes
    for _ in range(DRAWN):
        try:
            drawn = one_call(source, node.op, case.graph.opset)
        except Invalid:
            continue
        if _calls(drawn.graph) == _calls(case.graph) and len(drawn.graph.inputs) == len(case.graph.inputs):
            graph = replace(drawn.graph, outputs=_outputs_like(case.graph, drawn.graph))
            if is_valid(alike := replace(drawn, graph=graph, origin=case.origin)):
                yield alike


def _calls(graph: Graph) -> list[tuple[str, int, int]]:
    """The operators of a graph, with how many operands and results each call has."""
    return [(node.op, len(node.args), len(node.results)) for node in graph.nodes]


def _outputs_like(graph: Graph, drawn: Graph) -> tuple[str, ...]:
    """Return the outputs of a graph of one call, by the names of another graph of the same call."""
    theirs, names = ([value.name for value in each.values()] for each in (graph, drawn))
    return tuple(names[theirs.index(output)] for output in graph.outputs)


def _single_changes(source: ChoiceSource, case: Case) -> Iterator[Case]:
    for change in CHANGES:
        yield from less_odd(source, change, case)
