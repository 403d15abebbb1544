"""Keep a window of neighbouring nodes: most bugs need one or two operators of the graph they are found in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject, cut

WIDEST = 3


def keep_region(subject: Subject) -> Iterator[Subject]:
    """Windows of 1 to 3 nodes, narrow ones first, late ones first: operands become inputs, results outputs."""
    nodes = subject.graph.nodes
    for width in range(1, min(WIDEST, len(nodes) - 1) + 1):
        for start in reversed(range(len(nodes) - width + 1)):
            region = nodes[start : start + width]
            made = [value.name for node in region for value in node.results]
            read = {name for node in region for name in node.args}
            outside = {v.name for node in nodes if node not in region for v in node.results}
            outputs = tuple(name for name in made if name not in read)
            whole = replace(subject, case=replace(subject.case, graph=replace(subject.graph, outputs=outputs)))
            inner = frozenset(read & outside)
            smaller = cut(whole, _whole_nodes(subject, inner)) if inner else whole.with_graph(whole.graph)
            if smaller is not None:
                yield smaller


def _whole_nodes(subject: Subject, names: frozenset[str]) -> frozenset[str]:
    """The names, and the sisters of each: results of one node are cut together."""
    return frozenset(
        value.name
        for node in subject.graph.nodes
        if any(value.name in names for value in node.results)
        for value in node.results
    )
