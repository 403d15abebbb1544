"""Move a model to an opset that people use: findings of one bug should not differ in versions of operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.dialect import Opsets, dialect_named
from generators.graph import Graph


def usual_opset(subject: Subject) -> Iterator[Subject]:
    """Propose the whole graph at each usual opset, with the same attributes."""
    graph = subject.graph
    opsets = dialect_named(graph.dialect).opsets
    if opsets is None:
        return
    for opset in opsets.usual():
        if opset != graph.opset and (moved := _moved(graph, opset, opsets)) is not None:
            yield subject.with_graph(moved)


def opset_rank(graph: Graph) -> int:
    """Return how many usual opsets are better than the graph's own; 0 for a graph without an opset."""
    opsets = dialect_named(graph.dialect).opsets
    usual = opsets.usual() if opsets else (graph.opset,)
    return usual.index(graph.opset) if graph.opset in usual else len(usual)


def _moved(graph: Graph, opset: int, opsets: Opsets) -> Graph | None:
    nodes = [opsets.node_at(node, opset) for node in graph.nodes]
    found = tuple(node for node in nodes if node is not None)
    return replace(graph, nodes=found, opset=opset) if len(found) == len(nodes) else None
