"""Whether a finding that exists explains a failure without a message, by few runs and without a reduction.

A known finding of one operator explains the failure if the case calls that operator on the same dtypes, and the lane is
right when the results of these calls are inputs with the numbers that PyTorch computes. A death may not show in every
run: the rest of the case then runs several times, and the whole once more. Other failures that state can influence are
never explained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fuzzer.isolate.fleet import Runner
from fuzzer.signature import Signature
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.investigate import STEADY_KINDS, Sighting, may_run_in_used_children
from fuzzer.triage.proposals import checked
from fuzzer.triage.reducers.base import Subject, cut
from fuzzer.triage.reproduce import Observation, as_run_on, observe, reproduces
from generators.graph import Case, Graph, Node
from oracles.finding import Kind
from oracles.lane import LaneSpec, returns_gradients
from oracles.outcome import Built, Ran
from oracles.reference import FORWARD, GRADIENT, expected

Known = tuple[Case, Signature]
"""The reduced case of a saved finding, and its final signature."""

MOST_RUNS = 3
"""How many known findings are tried for one failure."""

RUNS_AFTER_A_DEATH = 3
"""How often the rest of a case that died must be right, in fresh children."""


def explained_by(runner: Runner, case: Case, sighting: Sighting, known: Sequence[Known]) -> Signature | None:
    """Return the signature of the known finding that explains the sighting, or None.

    Wrong results run in used children, and deaths in fresh ones. PyTorch computes the values in one more run.
    """
    lane, signature = sighting.finding.lane, sighting.signature
    died = signature.kind is Kind.DIED
    if not signature.needs_ops or signature.error or not (died or signature.kind in STEADY_KINDS):
        return None
    case = as_run_on(lane, case)
    candidates = list(_candidates(case, lane, signature, known))[:MOST_RUNS]
    if not candidates:
        return None
    run = runner.run if may_run_in_used_children(sighting.finding) else runner.run_fresh
    subject = Subject(case, lane, computed_values(run, case), needs_ops=True)
    for explanation, nodes in candidates:
        rest = _without(subject, nodes)
        if rest is None:
            continue
        runs = RUNS_AFTER_A_DEATH if died else 1
        is_right = all(_is_right(observe(run, rest, lane, signature), lane, signature) for _ in range(runs))
        if is_right and (not died or reproduces(run, case, lane, signature)):
            return explanation
    return None


def _is_right(observation: Observation, lane: LaneSpec, signature: Signature) -> bool:
    """Whether the run could have shown the failure, and shows no failure at all: another one may have been hidden."""
    return observation.valid and _is_judged(observation, lane, signature) and not observation.findings


def _is_judged(observation: Observation, lane: LaneSpec, signature: Signature) -> bool:
    """Whether the run could have shown the failure. Numbers are compared only where the lane and all references ran."""
    outcomes = observation.result.outcomes
    if not signature.kind.is_numeric:
        return isinstance(outcomes[lane], Ran | Built)
    variants = GRADIENT if returns_gradients(lane) else FORWARD
    return isinstance(outcomes[lane], Ran) and expected(outcomes, variants) is not None


def _candidates(
    case: Case, lane: LaneSpec, signature: Signature, known: Sequence[Known]
) -> Iterator[tuple[Signature, tuple[Node, ...]]]:
    """Yield known findings of one operator that fail in the same way, with the calls of it, each set of calls once."""
    tried = set()
    for reduced, final in known:
        if len(reduced.graph.nodes) != 1 or not signature.same_failure(final) or not _has_importer(final, lane):
            continue
        places = tuple(
            place
            for place, node in enumerate(case.graph.nodes)
            if _call(case.graph, node) == _call(reduced.graph, reduced.graph.nodes[0])
        )
        if places and places not in tried:
            tried.add(places)
            yield final, tuple(case.graph.nodes[place] for place in places)


def _has_importer(final: Signature, lane: LaneSpec) -> bool:
    """Whether the known finding showed with the lane's importer; without a list of importers any may show it."""
    importers = final.where.partition(" ")[0]
    return not importers or lane.importer.value in importers.split("+")


def _call(graph: Graph, node: Node) -> tuple[object, ...]:
    """Return the operator, and the dtypes of its operands and results."""
    operands = tuple(type.dtype for type in graph.arg_types(node))
    return node.title, operands, tuple(value.type.dtype for value in node.results)


def _without(subject: Subject, nodes: Sequence[Node]) -> Case | None:
    """Return the case with inputs in place of the results of the nodes, or None if nothing is left to run.

    A result that is an output of the graph is no output any more. Operands that nothing else reads become outputs:
    otherwise the calls before these nodes would be gone too, and with them their failures.
    """
    graph = subject.graph
    results = frozenset(value.name for node in nodes for value in node.results)
    others = [node for node in graph.nodes if node not in nodes]
    made, read = {value.name for node in others for value in node.results}, {name for n in others for name in n.args}
    unread = [name for node in nodes for name in node.args if name in made and name not in read]
    outputs = list(dict.fromkeys([*(name for name in graph.outputs if name not in results), *unread]))
    whole = replace(subject, case=replace(subject.case, graph=replace(graph, outputs=tuple(outputs))))
    rest = cut(whole, results) if outputs else None
    valid = checked(rest) if rest else None
    return valid.case if valid else None
