"""Cut a long graph into connected pieces with a bounded number of nodes. Each node is in at least one piece.

The nodes are divided into windows in the order of execution. A piece is a connected part of a window. Windows overlap
by half, so that neighbours in the model are together in a piece.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from generators.graph import Graph, Input, Node, Role, TensorType, Value


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the graph. `origins` maps each input to its name in the file, `made` each computed value."""

    graph: Graph
    origins: Mapping[str, str]
    made: Mapping[str, str]


def pieces(
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    roles: Mapping[str, Role],
    size: int,
    dialect: str,
    opset: int = 0,
    returned: Collection[str] = (),
) -> Iterator[Piece]:
    """Yield the pieces, each of at most `size` nodes. The values of each piece are named x0, w0, b0, v0, ... Its
    outputs are the values that no node of it reads, and those of `returned`. `opset` is 0 where there is none."""
    done: set[tuple[int, ...]] = set()
    for start in range(0, max(len(nodes), 1), max(size // 2, 1)):
        window = range(start, min(start + size, len(nodes)))
        for group in _connected(nodes, window):
            if not any(set(group) <= set(other) for other in done):
                done.add(group)
                yield piece_of([nodes[index] for index in group], types, roles, returned, dialect, opset)
        done = {group for group in done if group[-1] >= start}  # later windows have no nodes before `start`
        if window.stop == len(nodes):
            return


def whole(
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    roles: Mapping[str, Role],
    returned: Sequence[str],
    dialect: str,
    opset: int = 0,
) -> Piece:
    """Return a model as one piece. It returns what the model returns, in this order, and then what nothing reads."""
    piece = piece_of(nodes, types, roles, returned, dialect, opset)
    computed = [value.name for node in nodes for value in node.results]
    names = {name: f"v{index}" for index, name in enumerate(computed)}
    first = [names[name] for name in returned if name in names]
    outputs = (*first, *(name for name in piece.graph.outputs if name not in first))
    return replace(piece, graph=replace(piece.graph, outputs=outputs))


def complete(
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    roles: Mapping[str, Role],
    returned: Sequence[str],
    dialect: str,
    opset: int = 0,
    inputs: Sequence[str] = (),
) -> Piece:
    """Return a model as one piece that returns what the model returns, in this order, and nothing else. What it returns
    may be one of its inputs. It takes the `inputs` of the model in this order, also those that nothing reads."""
    piece = _with_inputs(piece_of(nodes, types, roles, (), dialect, opset, returned), inputs, types)
    own = {name: mine for names in (piece.origins, piece.made) for mine, name in names.items()}
    return replace(piece, graph=replace(piece.graph, outputs=tuple(own[name] for name in returned)))


def _with_inputs(piece: Piece, inputs: Sequence[str], types: Mapping[str, TensorType]) -> Piece:
    """Return the piece with these inputs of the model, in this order. Others come first, as they are."""
    own = {its: name for name, its in piece.origins.items()}
    items = {item.value.name: item for item in piece.graph.inputs}
    free = sum(item.role is Role.INPUT for item in items.values())
    for name in inputs:
        if name not in own and name in types:
            own[name] = f"{_LETTERS[Role.INPUT]}{free}"
            items[own[name]] = Input(Value(own[name], types[name]))
            free += 1
    places = {own[name]: place for place, name in enumerate(inputs, 1) if name in own}
    ordered = sorted(items.values(), key=lambda item: places.get(item.value.name, 0))
    origins = {own[its]: its for its in own}
    return replace(piece, graph=replace(piece.graph, inputs=tuple(ordered)), origins=origins)


def halves(piece: Piece) -> Iterator[Piece]:
    """Yield the piece in shorter pieces; nothing for a piece of a single node."""
    graph = piece.graph
    if len(graph.nodes) > 1:
        roles = {item.value.name: item.role for item in graph.inputs}
        for part in pieces(graph.nodes, graph.types, roles, len(graph.nodes) // 2, graph.dialect, graph.opset):
            names = {**piece.origins, **piece.made}
            origins, made = ({own: names[name] for own, name in each.items()} for each in (part.origins, part.made))
            yield Piece(part.graph, origins, made)


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


def piece_of(
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    roles: Mapping[str, Role],
    returned: Collection[str],
    dialect: str,
    opset: int = 0,
    also: Sequence[str] = (),
) -> Piece:
    """Return these nodes as one piece, whether they are connected or not. `also` are values that the piece has beside
    those that its nodes read and make."""
    computed = [value.name for node in nodes for value in node.results]
    read = dict.fromkeys([*(name for node in nodes for name in node.args), *also])
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
            node.form,
        )
        for node in nodes
    )
    outputs = tuple(names[name] for name in computed if name not in read or name in returned)
    origins = {names[name]: name for name in read if name not in computed}
    inputs.sort(key=lambda item: item.role is Role.INPUT)  # parameters and buffers first, as in the rendered source
    made = {names[name]: name for name in computed}
    return Piece(Graph(tuple(inputs), renamed, outputs, dialect, opset=opset), origins, made)
