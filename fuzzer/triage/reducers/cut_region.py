"""Replace a region of neighbouring nodes by inputs with its results.

This removes the nodes between two operators that a bug needs, and side branches.
"""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.triage.reducers.base import Subject, cut
from fuzzer.triage.reducers.keep_region import with_all_results


def cut_region(subject: Subject) -> Iterator[Subject]:
    """Propose to cut halves, quarters, ... of the nodes, down to two. `bypass_nodes` removes single nodes."""
    nodes, outputs = subject.graph.nodes, set(subject.graph.outputs)
    width = len(nodes) // 2
    while width > 1:
        for start in range(0, len(nodes), width):
            inside = nodes[start : start + width]
            made = {value.name for node in inside for value in node.results}
            read = {name for node in (*nodes[:start], *nodes[start + width :]) for name in node.args}
            smaller = cut(subject, with_all_results(subject, frozenset(made & read - outputs)))
            if smaller is not None:
                yield smaller
        width //= 2
