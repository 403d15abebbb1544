"""Leave out operands that a call can do without, and results that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.dialect import dialect_named


def fewer_operands(subject: Subject) -> Iterator[Subject]:
    """Propose each call without its unread results, and without each operand that may be left out, the last first."""
    graph = subject.graph
    fewer = dialect_named(graph.dialect).parts.fewer
    read = {*graph.outputs, *(name for node in graph.nodes for name in node.args)}
    for index, node in enumerate(graph.nodes):
        for changed in fewer(node, read):
            yield subject.with_graph(replace(graph, nodes=(*graph.nodes[:index], changed, *graph.nodes[index + 1 :])))
