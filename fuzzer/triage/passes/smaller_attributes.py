"""Smaller numbers in attributes that have no default, or are away from it, and fewer of them: 0, then 1, then half."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Attr, Graph, Node, Scalar
from generators.ops import TABLE


def smaller_attributes(subject: Subject) -> Iterator[Subject]:
    """All numbers of an attribute at once, then without one, then one at a time."""
    nodes = subject.graph.nodes
    for index, node in enumerate(nodes):
        for key, value in _own(node).items():
            for smaller in _smaller(value):
                changed = replace(node, attrs={**node.attrs, key: smaller})
                yield subject.with_graph(replace(subject.graph, nodes=(*nodes[:index], changed, *nodes[index + 1 :])))


def burden(graph: Graph) -> int:
    """How large the numbers of all attributes are that are not at their defaults."""
    return sum(_weight(value) for node in graph.nodes for value in _own(node).values())


def _own(node: Node) -> dict[str, Attr]:
    defaults = TABLE[node.op].defaults
    return {key: value for key, value in node.attrs.items() if key not in defaults or value != defaults[key]}


def _smaller(value: Attr) -> Iterator[Attr]:
    if not isinstance(value, tuple):
        yield from _plainer(value)
        return
    for together in (0, 1):
        if _numeric(value):
            yield (together,) * len(value)
    for place in reversed(range(len(value))):
        yield value[:place] + value[place + 1 :]
    for place, item in enumerate(value):
        for plainer in _plainer(item):
            yield (*value[:place], plainer, *value[place + 1 :])


def _numeric(value: tuple[Scalar, ...]) -> bool:
    return all(isinstance(item, int) and not isinstance(item, bool) for item in value)


def _plainer(item: Scalar) -> Iterator[Scalar]:
    """Numbers of the same type that weigh less."""
    if isinstance(item, bool):
        yield from (False,) if item else ()
    elif isinstance(item, int):
        near = item - 1 if item > 0 else item + 1
        yield from (n for n in dict.fromkeys((0, 1, -1, int(item / 2), near)) if _weight(n) < _weight(item))
    elif isinstance(item, float):
        whole = float(round(item)) if math.isfinite(item) and abs(item) < 2**53 else 1.0
        yield from (n for n in dict.fromkeys((0.0, 1.0, whole)) if _weight(n) < _weight(item))


def _weight(value: Attr) -> int:
    """0 weighs nothing; a negative number more than a positive one; fractions more than small whole numbers."""
    match value:
        case tuple():
            return len(value) + sum(map(_weight, value))
        case bool():
            return int(value)
        case int():
            return 2 * abs(value) + (value < 0)
        case float() if value.is_integer():
            return _weight(int(value))
        case float():
            return 1000 + (2 * math.ceil(abs(value)) if math.isfinite(value) else 1000)
        case _:
            return 0
