"""The strongly connected components of a directed graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def components(edges: Mapping[int, Collection[int]]) -> Iterator[set[int]]:
    """Yield the components, each as the set of its vertices: by Kosaraju's algorithm, in time that is linear in the
    edges. `edges` has an entry for each vertex."""
    order: list[int] = []
    _visit(edges, edges, set(), order)
    reverse: dict[int, list[int]] = {vertex: [] for vertex in edges}
    for vertex, others in edges.items():
        for other in others:
            reverse[other].append(vertex)
    done: set[int] = set()
    for vertex in reversed(order):
        if vertex not in done:
            found: list[int] = []
            _visit([vertex], reverse, done, found)
            yield set(found)


def _visit(starts: Collection[int], edges: Mapping[int, Collection[int]], done: set[int], finished: list[int]) -> None:
    """Visit in depth what can be reached and is not done, and append each vertex after all that it reaches."""
    for start in starts:
        if start in done:
            continue
        done.add(start)
        waiting = [(start, iter(edges[start]))]
        while waiting:
            vertex, others = waiting[-1]
            following = next((other for other in others if other not in done), None)
            if following is None:
                finished.append(vertex)
                waiting.pop()
            else:
                done.add(following)
                waiting.append((following, iter(edges[following])))
