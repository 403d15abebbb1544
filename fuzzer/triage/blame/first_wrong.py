"""The first operator that goes wrong: every value of the graph becomes an output, each is held against PyTorch's."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.passes.base import pruned
from generators.graph import Case, Graph
from oracles.against_torch import judge
from oracles.finding import Kind
from oracles.identical import difference
from oracles.outcome import Ran
from oracles.transforms import rounding_in

_TAPPED = (Kind.WRONG_VALUE, Kind.WRONG_DTYPE, Kind.WRONG_SHAPE, Kind.UNSTABLE)


def first_wrong(asked: BlameContext) -> str:
    """What people call it; "" where that cannot be told. Its operands are right: nodes come in an order in which they
    can run."""
    nodes = asked.case.graph.nodes
    if len(nodes) == 1:
        return nodes[0].title
    return _tapped(asked) if asked.finding.kind in _TAPPED else _first_that_fails(asked)


def _tapped(asked: BlameContext) -> str:
    """With all values as outputs, where the case's own are still wrong; else with one more at a time, from the front.

    An output keeps its value from being fused or overwritten: it may hide the very bug.
    """
    graph = written_plainly(asked.case).graph
    names = tuple(value.name for node in graph.nodes for value in node.results)
    whole = _with_outputs(asked.case, names)
    wrong = _wrong_among(asked.observe(asked.lane, whole))
    if wrong & set(graph.outputs):
        return _maker(graph, wrong)
    for node in graph.nodes[:-1]:
        extra = tuple(value.name for value in node.results if value.name not in graph.outputs)
        if extra:
            wrong = _wrong_among(asked.observe(asked.lane, _with_outputs(asked.case, (*graph.outputs, *extra))))
            if wrong & set(extra) and wrong & set(graph.outputs):
                return node.title
    alone = asked.observe(asked.lane, _with_outputs(asked.case, graph.outputs))
    return _maker(graph, _wrong_among(alone)) if _wrong_among(alone) else ""


def _maker(graph: Graph, wrong: set[str]) -> str:
    return next(node.title for node in graph.nodes if any(value.name in wrong for value in node.results))


def _wrong_among(seen: LaneObservation) -> set[str]:
    """The outputs that differ from PyTorch's, or from those of the first run."""
    names, ran = seen.case.graph.outputs, seen.outcome
    if not isinstance(ran, Ran) or len(ran.outputs) != len(names):
        return set()
    twice = zip(names, ran.outputs, ran.again or ran.outputs, strict=True)
    unstable = {name for name, one, other in twice if difference((one,), (other,), "")}
    right, rounding = zip(names, ran.outputs, seen.expected or (), strict=False), rounding_in(seen.lane)
    return unstable | {name for name, actual, want in right if judge((actual,), (want,), rounding)}


def written_plainly(case: Case) -> Case:
    """What is changed in place cannot be an output: such calls are written plainly, which computes the same."""
    return replace(case, graph=replace(case.graph, nodes=tuple(node.not_in_place for node in case.graph.nodes)))


def _with_outputs(case: Case, names: tuple[str, ...]) -> Case:
    case = written_plainly(case)
    return replace(case, graph=replace(case.graph, outputs=names))


def _first_that_fails(asked: BlameContext) -> str:
    """Of a failure without a result: the last call of the shortest beginning of the graph that fails alike."""
    nodes = asked.case.graph.nodes
    low, high = 0, len(nodes) - 1  # the whole graph fails
    while low < high:
        middle = (low + high) // 2
        if asked.observe(asked.lane, _beginning(asked.case, middle + 1)).fails:
            high = middle
        else:
            low = middle + 1
    return nodes[low].title


def _beginning(case: Case, count: int) -> Case:
    case = written_plainly(case)
    nodes = case.graph.nodes[:count]
    read = {name for node in nodes for name in node.args}
    outputs = tuple(value.name for node in nodes for value in node.results if value.name not in read)
    graph = pruned(replace(case.graph, nodes=nodes, outputs=outputs))
    return replace(case, graph=graph, tensors={item.value.name: case.tensors[item.value.name] for item in graph.inputs})
