"""The order of the calls of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generators.graph import Node


def in_order(nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes in topological order: each stands where it stood, or just before its first reader."""
    maker = {value.name: index for index, node in enumerate(nodes) for value in node.results}
    done: set[int] = set()
    for index in range(len(nodes)):
        waiting = [index]
        while waiting:
            node = nodes[waiting[-1]]
            before = {maker[name] for name in node.args if name in maker} - done
            if waiting[-1] in done or not before:
                last = waiting.pop()
                if last not in done:
                    done.add(last)
                    yield nodes[last]
            else:
                waiting += sorted(before, reverse=True)
