"""Remove a node: its result becomes an operand of the same type, or an input with the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject, cut
from generators.graph import Graph, Node


def bypass_nodes(subject: Subject) -> Iterator[Subject]:
    """Propose the subject without each node, from the last node to the first."""
    for node in reversed(subject.graph.nodes):
        names = frozenset(value.name for value in node.results)
        if not names <= set(subject.graph.outputs):  # an output that is an input cannot be wrong
            smaller = cut(subject, names)
            if smaller is not None:
                yield smaller
        if len(node.results) == 1:
            types = subject.graph.types
            for arg in dict.fromkeys(node.args):
                if types[arg] == node.results[0].type:
                    yield subject.with_graph(_forwarded(subject.graph, node, arg))


def _forwarded(graph: Graph, removed: Node, to: str) -> Graph:
    """Return the graph without the node `removed`. Its readers read `to` instead."""
    name = removed.results[0].name

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(to if n == name else n for n in names)

    nodes = tuple(replace(node, args=renamed(node.args)) for node in graph.nodes if node is not removed)
    return replace(graph, nodes=nodes, outputs=tuple(dict.fromkeys(renamed(graph.outputs))))
