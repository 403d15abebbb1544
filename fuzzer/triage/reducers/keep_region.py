"""Keep only a region of neighbouring nodes, by bisection from both ends. Most bugs need one or two operators.

Operands from outside become inputs. Results that no node inside reads become outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject, cut


def keep_region(subject: Subject) -> Iterator[Subject]:
    """Propose the first and the second half, then all but a quarter, an eighth, ... down to one node, at either end.

    For a bug of one operator in a graph of n nodes, log2(n) rounds of one or two candidates isolate the operator. The
    beginning is proposed before the end, because its values do not change.
    """
    count = len(subject.graph.nodes)
    removed = count - count // 2
    while removed and count > 1:
        for start, end in ((0, count - removed), (removed, count)):
            smaller = region(subject, start, end)
            if smaller is not None:
                yield smaller
        removed //= 2


def region(subject: Subject, start: int, end: int) -> Subject | None:
    """Return the subject with nodes `start` to `end` (exclusive) only, or None if an operand was not computed."""
    nodes = subject.graph.nodes
    inside = nodes[start:end]
    made = [value.name for node in inside for value in node.results]
    read = {name for node in inside for name in node.args}
    outside = {value.name for node in (*nodes[:start], *nodes[end:]) for value in node.results}
    outputs = tuple(name for name in made if name not in read)
    whole = replace(subject, case=replace(subject.case, graph=replace(subject.graph, outputs=outputs)))
    needed = frozenset(read & outside)
    return cut(whole, with_all_results(subject, needed)) if needed else whole.with_graph(whole.graph)


def with_all_results(subject: Subject, names: frozenset[str]) -> frozenset[str]:
    """Return the names, and all results of the nodes that compute them: the results of a node are cut together."""
    return frozenset(
        value.name
        for node in subject.graph.nodes
        if any(value.name in names for value in node.results)
        for value in node.results
    )
