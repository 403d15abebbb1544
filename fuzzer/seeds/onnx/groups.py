"""Which nodes of an ONNX file are one call: those with a value between them that a case cannot hold, such as a
sequence, and the nodes on a way from one of these to another."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fuzzer.seeds.components import components
from generators.onnx.model import Node
from generators.onnx.unlisted import captured


def reads_of(node: Node) -> tuple[str, ...]:
    """The values that a node reads, those of its graphs too, each once."""
    return tuple(dict.fromkeys((*filter(None, node.inputs), *captured(node))))


def groups(nodes: Sequence[Node], opaque: Collection[str]) -> list[tuple[int, ...]]:
    """The places of the nodes, which are in order: each in one group, the groups in the order of their last nodes.
    `opaque` are the values that a case cannot hold."""
    if not opaque:
        return [(place,) for place in range(len(nodes))]
    maker = {name: place for place, node in enumerate(nodes) for name in node.outputs if name}
    edges = [(maker[name], place, name) for place, node in enumerate(nodes) for name in reads_of(node) if name in maker]
    first = list(range(len(nodes)))
    for before, after, name in edges:
        if name in opaque:
            _join(first, before, after)
    between: dict[int, set[int]] = {_first(first, place): set() for place in range(len(nodes))}
    for before, after, _ in edges:
        between[_first(first, before)].add(_first(first, after))
    for joined in list(components(between)):
        for place in joined:
            _join(first, min(joined), place)
    found: dict[int, list[int]] = {}
    for place in range(len(nodes)):
        found.setdefault(_first(first, place), []).append(place)
    return sorted((tuple(places) for places in found.values()), key=lambda places: places[-1])


def _first(first: list[int], place: int) -> int:
    """The first node of the group of a node."""
    while first[place] != place:
        first[place] = first[first[place]]
        place = first[place]
    return place


def _join(first: list[int], one: int, other: int) -> None:
    low, high = sorted((_first(first, one), _first(first, other)))
    first[high] = low
