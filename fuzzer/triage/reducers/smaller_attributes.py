"""Make numbers in attributes smaller (0, 1, half), and lists of them shorter. Attributes at their defaults stay."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from fuzzer.triage.reducers.base import Subject
from generators.graph import Attr, Graph, Node, Scalar
from generators.table import TABLE

MOST_TOGETHER = 3
"""The largest number of attributes of a call for which all combinations are tried."""


def smaller_attributes(subject: Subject) -> Iterator[Subject]:
    """Propose for each call smaller values for all attributes together, and then for one attribute.

    Attributes may depend on each other, as a window and its padding do.
    """
    nodes = subject.graph.nodes
    for index, node in enumerate(nodes):
        attrs = _not_default(node)
        single = ({key: smaller} for key, value in attrs.items() for smaller in _smaller(value))
        for changes in (*_together(attrs), *single):
            changed = replace(node, attrs={**node.attrs, **changes})
            yield subject.with_graph(replace(subject.graph, nodes=(*nodes[:index], changed, *nodes[index + 1 :])))


def attribute_size(graph: Graph) -> int:
    """Return the sum of the weights of all attributes that are not at their defaults."""
    return sum(_weight(value) for node in graph.nodes for value in _not_default(node).values())


def _not_default(node: Node) -> dict[str, Attr]:
    """The attributes that may be changed: none of a call that has no row of its own."""
    if TABLE[node.op].unlisted:
        return {}
    defaults = TABLE[node.op].defaults
    return {key: value for key, value in node.attrs.items() if key not in defaults or value != defaults[key]}


def _together(attrs: Mapping[str, Attr]) -> Iterator[dict[str, Attr]]:
    """Yield zeros and ones for the attributes in all combinations, and lists of equal length without the same item."""
    numbers = {key: value for key, value in attrs.items() if _is_int(value) or (isinstance(value, tuple) and value)}
    if 1 < len(numbers) <= MOST_TOGETHER and all(_is_int(v) or _numeric(v) for v in numbers.values()):
        for chosen in product((0, 1), repeat=len(numbers)):
            yield {key: _all(n, value) for n, (key, value) in zip(chosen, numbers.items(), strict=True)}
    lists = {key: value for key, value in attrs.items() if isinstance(value, tuple)}
    lengths = {len(value) for value in lists.values()}
    if len(lists) > 1 and len(lengths) == 1:
        for place in reversed(range(lengths.pop())):
            yield {key: value[:place] + value[place + 1 :] for key, value in lists.items()}


def _all(number: int, value: Attr) -> Attr:
    return (number,) * len(value) if isinstance(value, tuple) else number


def _is_int(value: Attr) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _smaller(value: Attr) -> Iterator[Attr]:
    """Yield smaller values: for lists, equal items, one item less, and then one smaller item."""
    if not isinstance(value, tuple):
        yield from _plainer(value)
        return
    for number in (0, 1):
        if _numeric(value):
            yield _all(number, value)
    for place in reversed(range(len(value))):
        yield value[:place] + value[place + 1 :]
    for place, item in enumerate(value):
        for plainer in _plainer(item):
            yield (*value[:place], plainer, *value[place + 1 :])


def _numeric(value: Attr) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _plainer(item: Scalar) -> Iterator[Scalar]:
    """Yield numbers of the same type with a smaller weight."""
    if isinstance(item, bool):
        yield from (False,) if item else ()
    elif isinstance(item, int):
        near = item - 1 if item > 0 else item + 1
        yield from (n for n in dict.fromkeys((0, 1, -1, int(item / 2), near)) if _weight(n) < _weight(item))
    elif isinstance(item, float):
        whole = float(round(item)) if math.isfinite(item) and abs(item) < 2**53 else 1.0
        yield from (n for n in dict.fromkeys((0.0, 1.0, whole)) if _weight(n) < _weight(item))


def _weight(value: Attr) -> int:
    """Return 0 for 0, more for larger numbers, and more for negative numbers, fractions and longer lists."""
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
