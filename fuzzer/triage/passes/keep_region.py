"""Keep a region of neighbouring nodes, bisecting from both ends: most bugs need one or two operators of the graph they
are found in. Operands that are made outside become inputs, results that nobody inside reads outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject, cut


def keep_region(subject: Subject) -> Iterator[Subject]:
    """The first half and the second, then all but a quarter, an eighth, ... down to a single node at either end.

    A bug of one operator in a graph of n is alone after log2(n) rounds of one or two candidates each. Beginnings come
    first: their numbers are computed as they were.
    """
    count = len(subject.graph.nodes)
    gone = count - count // 2
    while gone and count > 1:
        for start, end in ((0, count - gone), (gone, count)):
            smaller = region(subject, start, end)
            if smaller is not None:
                yield smaller
        gone //= 2


def region(subject: Subject, start: int, end: int) -> Subject | None:
    """The nodes from `start` up to `end`; None where numbers that they need were not tapped."""
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
    """The names, and the sisters of each: results of one node are cut together."""
    return frozenset(
        value.name
        for node in subject.graph.nodes
        if any(value.name in names for value in node.results)
        for value in node.results
    )
