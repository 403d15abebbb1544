"""Pieces of a long graph: at most so many nodes each, connected, every node in at least one.

A piece is what is connected within a stretch of nodes that follow each other, as the model executes them. Stretches
overlap by half: what stands together in the model stands together in a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generators.graph import Graph, Input, Node, Role, TensorType, Value


@dataclass(frozen=True, slots=True)
class Piece:
    """`origins` says what the file calls each input."""

    graph: Graph
    origins: Mapping[str, str]


def pieces(
    nodes: Sequence[Node], types: Mapping[str, TensorType], roles: Mapping[str, Role], size: int
) -> Iterator[Piece]:
    """`size` is the most nodes of a piece. Values are called x0, w0, b0, v0, ... within each."""
    seen: set[tuple[int, ...]] = set()
    for start in range(0, max(len(nodes), 1), max(size // 2, 1)):
        stretch = range(start, min(start + size, len(nodes)))
        for group in _connected(nodes, stretch):
            if not any(set(group) <= set(other) for other in seen):
                seen.add(group)
                yield _piece([nodes[index] for index in group], types, roles)
        seen = {group for group in seen if group[-1] >= start}  # those behind cannot hold what comes
        if stretch.stop == len(nodes):
            return


def halves(piece: Piece) -> Iterator[Piece]:
    """The piece in shorter ones; none of a single node."""
    graph = piece.graph
    if len(graph.nodes) > 1:
        roles = {item.value.name: item.role for item in graph.inputs}
        for part in pieces(graph.nodes, graph.types, roles, len(graph.nodes) // 2):
            yield Piece(part.graph, {name: piece.origins.get(own, own) for name, own in part.origins.items()})


def _connected(nodes: Sequence[Node], stretch: range) -> list[tuple[int, ...]]:
    """The stretch in parts that share no computed value."""
    maker: dict[str, int] = {}
    part: dict[int, list[int]] = {}
    for index in stretch:
        mine = [index]
        for name in dict.fromkeys(nodes[index].args):
            other = part[maker[name]] if name in maker else mine
            if other is not mine:
                mine[:0] = other
                for member in mine:
                    part[member] = mine
        part[index] = mine
        maker |= {value.name: index for value in nodes[index].results}
    return sorted({tuple(sorted(group)) for group in part.values()})


_LETTERS = {Role.INPUT: "x", Role.PARAM: "w", Role.BUFFER: "b"}


def _piece(nodes: Sequence[Node], types: Mapping[str, TensorType], roles: Mapping[str, Role]) -> Piece:
    made = [value.name for node in nodes for value in node.results]
    read = dict.fromkeys(name for node in nodes for name in node.args)
    names = {name: f"v{index}" for index, name in enumerate(made)}
    inputs, counts = [], dict.fromkeys(Role, 0)
    for name in read:
        if name not in names:
            role = roles.get(name, Role.INPUT)
            names[name] = f"{_LETTERS[role]}{counts[role]}"
            counts[role] += 1
            inputs.append(Input(Value(names[name], types[name]), role))
    renamed = tuple(
        Node(
            node.op,
            tuple(names[name] for name in node.args),
            node.attrs,
            tuple(Value(names[value.name], value.type) for value in node.results),
        )
        for node in nodes
    )
    outputs = tuple(names[name] for name in made if name not in read)
    origins = {names[name]: name for name in read if name not in made}
    inputs.sort(key=lambda item: item.role is Role.INPUT)  # as rendered: the model's own first
    return Piece(Graph(tuple(inputs), renamed, outputs), origins)
