"""Find the first operator whose result is wrong: every value becomes an output and is compared with PyTorch's."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.eager_values import with_every_value, written_plainly
from fuzzer.triage.reducers.base import pruned
from fuzzer.triage.suspects import shows_values, wrong_outputs
from generators.graph import Case, Graph


def first_wrong(context: BlameContext) -> str:
    """Return the name of the first operator that is wrong or fails, or "" if it cannot be determined.

    Nodes are in an order in which they can run, so that the operands of the first one are right.
    """
    nodes = context.case.graph.nodes
    if len(nodes) == 1:
        return nodes[0].title
    search = _first_wrong_value if shows_values(context.finding.kind, context.lane) else _first_that_fails
    return search(context)


def _first_wrong_value(context: BlameContext) -> str:
    """Compare the values of all nodes in one run, or add one node at a time to the outputs.

    An output is not fused or overwritten, which may hide the bug. Therefore a run counts only if the case's own outputs
    are still wrong in it.
    """
    case = written_plainly(context.case)
    graph = case.graph
    wrong = _wrong_outputs(context.observe(context.lane, with_every_value(case)))
    if wrong & set(graph.outputs):
        return _maker(graph, wrong)
    for node in graph.nodes[:-1]:
        extra = tuple(value.name for value in node.results if value.name not in graph.outputs)
        if extra:
            wrong = _wrong_outputs(context.observe(context.lane, _with_outputs(case, (*graph.outputs, *extra))))
            if wrong & set(extra) and wrong & set(graph.outputs):
                return node.title
    wrong = _wrong_outputs(context.observe(context.lane, case))
    return _maker(graph, wrong) if wrong else ""


def _maker(graph: Graph, wrong: set[str]) -> str:
    """Return the operator of the first node with a wrong result."""
    return next(node.title for node in graph.nodes if any(value.name in wrong for value in node.results))


def _wrong_outputs(observation: LaneObservation) -> set[str]:
    return wrong_outputs(observation.case, observation.lane, observation.observation.result.outcomes)


def _with_outputs(case: Case, names: tuple[str, ...]) -> Case:
    return replace(case, graph=replace(case.graph, outputs=names))


def _first_that_fails(context: BlameContext) -> str:
    """Return the last operator of the shortest beginning of the graph that fails in the same way, by bisection."""
    nodes = context.case.graph.nodes
    low, high = 0, len(nodes) - 1  # the whole graph fails
    while low < high:
        middle = (low + high) // 2
        if context.observe(context.lane, _beginning(context.case, middle + 1)).fails:
            high = middle
        else:
            low = middle + 1
    return nodes[low].title


def _beginning(case: Case, count: int) -> Case:
    """Return the case with the first `count` nodes only. Its outputs are the results that no node reads."""
    case = written_plainly(case)
    nodes = case.graph.nodes[:count]
    read = {name for node in nodes for name in node.args}
    outputs = tuple(value.name for node in nodes for value in node.results if value.name not in read)
    graph = pruned(replace(case.graph, nodes=nodes, outputs=outputs))
    return replace(case, graph=graph, tensors={item.value.name: case.tensors[item.value.name] for item in graph.inputs})
