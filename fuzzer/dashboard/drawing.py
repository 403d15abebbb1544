"""A graph laid out in layers, from its inputs down: boxes and the lines between them, in pixels, for any renderer.

A value stands in the layer below the lowest of its operands, an input just above the first that reads it. Lines that
pass a layer do so through a point of their own in it, so that they run around boxes. Within a layer things stand where
those that they are joined to stand on average (Sugiyama's barycenters, down and up a few times), and keep their
distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from generators.graph import Case, Graph, Node

CHAR, PADDING, HEIGHT, GAP, LAYER_GAP, POINT = 7.3, 14.0, 42.0, 18.0, 30.0, 6.0
"""Pixels: of a character of 12 px monospace, beside a label, of a box, between neighbours and layers, of a line."""

SWEEPS = 4
MOST_NODES = 80
LABEL, ATTRIBUTES = 40, 160
"""Characters."""


class Sort(StrEnum):
    """What a box stands for, and so how it looks."""

    INPUT = "input"
    OWNED = "param"  # a parameter or a buffer
    OPERATOR = "operator"
    BLAMED = "blamed"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Box:
    """`x`, `y` is the upper left corner. `label` and `type` are its two lines; `more` is what does not fit."""

    sort: Sort
    x: float
    y: float
    width: float
    height: float
    label: str
    type: str
    more: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """`lines` are polylines, from above to below; `left_out` nodes of a large graph are not drawn."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[tuple[tuple[float, float], ...], ...]
    left_out: int = 0


@dataclass(slots=True, eq=False)
class _Thing:
    """A box to be, or a point through which a line passes."""

    layer: int
    width: float
    box: tuple[Sort, str, str, str] | None
    center: float = 0.0


def drawing(case: Case, blamed: str = "") -> Drawing:
    """`blamed`: what people call the operators that are to be marked."""
    graph = case.bound
    things, edges = _things(graph, blamed)
    chains = [_chain(things, a, b) for a, b in edges]
    layers: list[list[_Thing]] = [[] for _ in range(1 + max((t.layer for t in things.values()), default=0))]
    for thing in dict.fromkeys(things.values()):  # the results of a node are one thing
        layers[thing.layer].append(thing)
    for chain in chains:
        for point in chain[1:-1]:
            layers[point.layer].append(point)
    _place(layers, chains)
    return _drawn(layers, chains, max(0, len(graph.nodes) - MOST_NODES))


def _things(graph: Graph, blamed: str) -> tuple[dict[str, _Thing], list[tuple[str, str]]]:
    """By value (the results of a node share theirs), and which values' things are joined."""
    things: dict[str, _Thing] = {}
    edges: list[tuple[str, str]] = []
    for item in graph.inputs:
        sort = Sort.OWNED if item.role.is_owned else Sort.INPUT
        more = str(item.role) if item.layout == "contiguous" else f"{item.role}, {item.layout}"
        things[item.value.name] = _thing(0, sort, item.value.name, str(item.value.type), more)
    for node in graph.nodes[:MOST_NODES]:
        layer = 1 + max((things[name].layer for name in node.args), default=-1)
        sort = Sort.BLAMED if blamed and node.title == blamed else Sort.OPERATOR
        types = ", ".join(str(value.type) for value in node.results)
        thing = _thing(layer, sort, node.title, types, _attributes(node))
        for value in node.results:
            things[value.name] = thing
        edges += [(name, node.results[0].name) for name in dict.fromkeys(node.args)]
    for item in graph.inputs:  # just above the first that reads it
        readers = [things[reader].layer for name, reader in edges if name == item.value.name]
        things[item.value.name].layer = min(readers, default=1) - 1
    for number, name in enumerate(graph.outputs):
        if name in things:
            key = f"output {number}"
            things[key] = _thing(things[name].layer + 1, Sort.OUTPUT, key, name, "")
            edges.append((name, key))
    return things, edges


def _thing(layer: int, sort: Sort, label: str, type_: str, more: str) -> _Thing:
    label, type_ = _short(label, LABEL), _short(type_, LABEL)
    width = CHAR * max(len(label) + 2 * (sort is Sort.BLAMED), len(type_)) + 2 * PADDING
    return _Thing(layer, width, (sort, label, type_, more))


def _attributes(node: Node) -> str:
    return _short(", ".join(f"{name}={value!r}" for name, value in node.attrs.items()), ATTRIBUTES)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _chain(things: Mapping[str, _Thing], a: str, b: str) -> list[_Thing]:
    """The two things, and a point in each layer between them."""
    first, last = things[a], things[b]
    return [first, *(_Thing(layer, POINT, None) for layer in range(first.layer + 1, last.layer)), last]


def _place(layers: Sequence[list[_Thing]], chains: Iterable[Sequence[_Thing]]) -> None:
    above: dict[_Thing, list[_Thing]] = {}
    below: dict[_Thing, list[_Thing]] = {}
    for chain in chains:
        for upper, lower in pairwise(chain):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    for layer in layers:
        _keep_distance(layer, [float(place) for place in range(len(layer))])
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            joined = above if down else below
            wanted = [_mean([other.center for other in joined.get(thing, [thing])]) for thing in layer]
            order = sorted(range(len(layer)), key=lambda place: wanted[place])
            layer[:] = [layer[place] for place in order]
            _keep_distance(layer, [wanted[place] for place in order])


def _keep_distance(layer: Sequence[_Thing], wanted: Sequence[float]) -> None:
    """As near to where they want to be, in this order, as they fit; the layer as a whole stays centered on that."""
    right = float("-inf")
    for thing, center in zip(layer, wanted, strict=True):
        thing.center = max(center, right + GAP + thing.width / 2)
        right = thing.center + thing.width / 2
    shift = _mean(wanted) - _mean([thing.center for thing in layer]) if layer else 0.0
    for thing in layer:
        thing.center += shift


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _drawn(layers: Sequence[Sequence[_Thing]], chains: Iterable[Sequence[_Thing]], left_out: int) -> Drawing:
    everything = [thing for layer in layers for thing in layer]
    left = min((thing.center - thing.width / 2 for thing in everything), default=0.0)
    right = max((thing.center + thing.width / 2 for thing in everything), default=0.0)

    def top(layer: int) -> float:
        return layer * (HEIGHT + LAYER_GAP)

    boxes = [
        Box(sort, _px(t.center - t.width / 2 - left), top(t.layer), _px(t.width), HEIGHT, label, type_, more)
        for t in everything
        if t.box is not None
        for sort, label, type_, more in (t.box,)
    ]
    lines = []
    for chain in chains:
        points = [(chain[0].center, top(chain[0].layer) + HEIGHT)]
        for point in chain[1:-1]:
            points += [(point.center, top(point.layer)), (point.center, top(point.layer) + HEIGHT)]
        points.append((chain[-1].center, top(chain[-1].layer)))
        lines.append(tuple((_px(x - left), y) for x, y in points))
    return Drawing(_px(right - left), top(len(layers)) - LAYER_GAP, tuple(boxes), tuple(lines), left_out)


def _px(number: float) -> float:
    return round(number, 1)
