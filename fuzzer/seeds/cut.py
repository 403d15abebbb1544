"""Cut a long graph into connected pieces with a bounded number of nodes. Each node is in at least one piece.

The nodes are divided into windows in the order of execution. A piece is a connected part of a window. Windows overlap
by half, so that neighbours in the model are together in a piece.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generators.graph import Graph, Input, Node, Role, TensorType, Value


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the graph. `origins` maps each input to its name in the file."""

    graph: Graph
    origins: Mapping[str, str]


def pieces(
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    roles: Mapping[str, Role],
    size: int,
    returned: Collection[str] = (),
) -> Iterator[Piece]:
    """Yield the pieces, each of at most `size` nodes. The values of each piece are named x0, w0, b0, v0, ... Its
    outputs are the values that no node of it reads, and those of `returned`."""
    done: set[tuple[int, ...]] = set()
    for start in range(0, max(len(nodes), 1), max(size // 2, 1)):
        window = range(start, min(start + size, len(nodes)))
        for group in _connected(nodes, window):
            if not any(set(group) <= set(other) for other in done):
                done.add(group)
                yield _piece([nodes[index] for index in group], types, roles, returned)
        done = {group for group in done if group[-1] >= start}  # later windows have no nodes before `start`
        if window.stop == len(nodes):
            return


def halves(piece: Piece) -> Iterator[Piece]:
    """Yield the piece in shorter pieces; nothing for a piece of a single node."""
    graph = piece.graph
    if len(graph.nodes) > 1:
        roles = {item.value.name: item.role for item in graph.inputs}
        for part in pieces(graph.nodes, graph.types, roles, len(graph.nodes) // 2):
            yield Piece(part.graph, {name: piece.origins.get(own, own) for name, own in part.origins.items()})


def _connected(nodes: Sequence[Node], window: range) -> list[tuple[int, ...]]:
    """The indices of the nodes in the window, in groups that share no computed value."""
    producer: dict[str, int] = {}
    group_of: dict[int, list[int]] = {}
    for index in window:
        group = [index]
        for name in dict.fromkeys(nodes[index].args):
            other = group_of[producer[name]] if name in producer else group
            if other is not group:
                group[:0] = other
                for member in group:
                    group_of[member] = group
        group_of[index] = group
        producer |= {value.name: index for value in nodes[index].results}
    return sorted({tuple(sorted(group)) for group in group_of.values()})


_LETTERS = {Role.INPUT: "x", Role.PARAM: "w", Role.BUFFER: "b"}


def _piece(
    nodes: Sequence[Node], types: Mapping[str, TensorType], roles: Mapping[str, Role], returned: Collection[str]
) -> Piece:
    computed = [value.name for node in nodes for value in node.results]
    read = dict.fromkeys(name for node in nodes for name in node.args)
    names = {name: f"v{index}" for index, name in enumerate(computed)}
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
    outputs = tuple(names[name] for name in computed if name not in read or name in returned)
    origins = {names[name]: name for name in read if name not in computed}
    inputs.sort(key=lambda item: item.role is Role.INPUT)  # parameters and buffers first, as in the rendered source
    return Piece(Graph(tuple(inputs), renamed, outputs), origins)
