"""Lay out a graph in layers, with its inputs at the top: boxes and the lines between them, in pixels.

A node is in the layer below its lowest operand, an input in the layer above its first reader. A line that crosses a
layer passes through a point of its own there, so that it runs around boxes. Within a layer, items are placed at the
mean position of their neighbours in the next layer (the barycenter method of Sugiyama, Tagawa and Toda, 1981), in a few
sweeps down and up, and keep a distance.
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


class BoxKind(StrEnum):
    """What a box represents. The style depends on it."""

    INPUT = "input"
    OWNED = "param"  # a parameter or a buffer
    OPERATOR = "operator"
    BLAMED = "blamed"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Box:
    """`x` and `y` are the upper left corner. `label` and `type` are its two lines; `more` is the text of the
    tooltip."""

    sort: BoxKind
    x: float
    y: float
    width: float
    height: float
    label: str
    type: str
    more: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """`lines` are polylines from top to bottom. `left_out` is the number of nodes that are not drawn."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[tuple[tuple[float, float], ...], ...]
    left_out: int = 0


@dataclass(slots=True, eq=False)
class _Item:
    """A box, or a point through which a line passes."""

    layer: int
    width: float
    box: tuple[BoxKind, str, str, str] | None
    center: float = 0.0


def drawing(case: Case, blamed: str = "") -> Drawing:
    """Draw the case's graph. Nodes with the title `blamed` are marked."""
    graph = case.bound
    items, edges = _items(graph, blamed)
    chains = [_chain(items, a, b) for a, b in edges]
    layers: list[list[_Item]] = [[] for _ in range(1 + max((t.layer for t in items.values()), default=0))]
    for box_or_point in dict.fromkeys(items.values()):  # the results of a node share one item
        layers[box_or_point.layer].append(box_or_point)
    for chain in chains:
        for point in chain[1:-1]:
            layers[point.layer].append(point)
    _place(layers, chains)
    return _drawn(layers, chains, max(0, len(graph.nodes) - MOST_NODES))


def _items(graph: Graph, blamed: str) -> tuple[dict[str, _Item], list[tuple[str, str]]]:
    """The items by value (the results of a node share one), and the pairs of values that are joined by a line."""
    items: dict[str, _Item] = {}
    edges: list[tuple[str, str]] = []
    for item in graph.inputs:
        sort = BoxKind.OWNED if item.role.is_owned else BoxKind.INPUT
        more = str(item.role) if item.layout == "contiguous" else f"{item.role}, {item.layout}"
        items[item.value.name] = _item(0, sort, item.value.name, str(item.value.type), more)
    for node in graph.nodes[:MOST_NODES]:
        layer = 1 + max((items[name].layer for name in node.args), default=-1)
        sort = BoxKind.BLAMED if blamed and node.title == blamed else BoxKind.OPERATOR
        types = ", ".join(str(value.type) for value in node.results)
        box_or_point = _item(layer, sort, node.title, types, _attributes(node))
        for value in node.results:
            items[value.name] = box_or_point
        edges += [(name, node.results[0].name) for name in dict.fromkeys(node.args)]
    for item in graph.inputs:  # just above the first that reads it
        readers = [items[reader].layer for name, reader in edges if name == item.value.name]
        items[item.value.name].layer = min(readers, default=1) - 1
    for number, name in enumerate(graph.outputs):
        if name in items:
            key = f"output {number}"
            items[key] = _item(items[name].layer + 1, BoxKind.OUTPUT, key, name, "")
            edges.append((name, key))
    return items, edges


def _item(layer: int, sort: BoxKind, label: str, type_: str, more: str) -> _Item:
    label, type_ = _short(label, LABEL), _short(type_, LABEL)
    width = CHAR * max(len(label) + 2 * (sort is BoxKind.BLAMED), len(type_)) + 2 * PADDING
    return _Item(layer, width, (sort, label, type_, more))


def _attributes(node: Node) -> str:
    return _short(", ".join(f"{name}={value!r}" for name, value in node.attrs.items()), ATTRIBUTES)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _chain(items: Mapping[str, _Item], a: str, b: str) -> list[_Item]:
    """The items of two values, and a point in each layer between them."""
    first, last = items[a], items[b]
    return [first, *(_Item(layer, POINT, None) for layer in range(first.layer + 1, last.layer)), last]


def _place(layers: Sequence[list[_Item]], chains: Iterable[Sequence[_Item]]) -> None:
    above: dict[_Item, list[_Item]] = {}
    below: dict[_Item, list[_Item]] = {}
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
            wanted = [
                _mean([other.center for other in joined.get(box_or_point, [box_or_point])]) for box_or_point in layer
            ]
            order = sorted(range(len(layer)), key=lambda place: wanted[place])
            layer[:] = [layer[place] for place in order]
            _keep_distance(layer, [wanted[place] for place in order])


def _keep_distance(layer: Sequence[_Item], wanted: Sequence[float]) -> None:
    """Place the items as near to `wanted` as the gaps allow, in this order. The layer keeps the mean of `wanted`."""
    right = float("-inf")
    for box_or_point, center in zip(layer, wanted, strict=True):
        box_or_point.center = max(center, right + GAP + box_or_point.width / 2)
        right = box_or_point.center + box_or_point.width / 2
    shift = _mean(wanted) - _mean([box_or_point.center for box_or_point in layer]) if layer else 0.0
    for box_or_point in layer:
        box_or_point.center += shift


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _drawn(layers: Sequence[Sequence[_Item]], chains: Iterable[Sequence[_Item]], left_out: int) -> Drawing:
    everything = [box_or_point for layer in layers for box_or_point in layer]
    left = min((box_or_point.center - box_or_point.width / 2 for box_or_point in everything), default=0.0)
    right = max((box_or_point.center + box_or_point.width / 2 for box_or_point in everything), default=0.0)

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
