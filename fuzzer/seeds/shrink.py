"""The same graph with small sizes, so that a case runs in milliseconds.

A size is changed wherever the graph has it, in inputs and in attributes, and the operators' inference says whether the
whole still holds. Sizes hang together: what is 64 heads' worth of 12 is 768 elsewhere, and what was concatenated is the
sum. So a size is first changed together with all its multiples, then alone; and where an operator refuses, the sizes
that have come out in front of it are carried to its other operands, and the whole is tried again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from generators.graph import Attr, Graph, Input, Invalid, Node, TensorType, Value
from generators.ops import TABLE
from generators.ops.base import Op

SMALL = 8
"""Sizes up to here stay."""
TARGETS = (4, 6, 8, 3, 5, 7, 12, 16, 24, 32, 64)
"""What larger ones become, the first that fits: sizes that differ shall still differ, if they can."""
MAX_NUMEL = 1 << 15
MAX_WORK = 20_000_000
REPAIRS = 6


class TooLarge(Exception):
    """The graph cannot be made small; the message says what stays large."""


def shrunk(graph: Graph) -> Graph:
    """The graph with every size as small as its operators let it. Raise `TooLarge`."""
    before = None
    while graph != before:
        before = graph
        for size in sorted(large_sizes(graph), reverse=True):
            graph = _without_size(graph, size)
    _require_small(graph)
    return graph


def _without_size(graph: Graph, size: int) -> Graph:
    there = {size for value in graph.values() for size in value.type.sizes}
    targets = [target for target in TARGETS if target < size]
    targets.sort(key=lambda target: target in there)
    multiples = [other for other in large_sizes(graph) if other % size == 0]
    for target in targets:
        changes: list[dict[int, int]] = [{other: other // size * target for other in multiples}, {size: target}]
        for change in changes if len(multiples) > 1 else changes[1:]:
            if smaller := _changed(graph, change):
                return smaller
    return graph


def large_sizes(graph: Graph) -> set[int]:
    inputs = {size for item in graph.inputs for size in item.value.type.sizes}
    attributes = {abs(size) for node in graph.nodes for size in _sizes(node)}
    return {size for size in inputs | attributes if SMALL < size < 1 << 31}


def _sizes(node: Node) -> Iterator[int]:
    for key, value in node.attrs.items():
        if _counts(TABLE[node.op], key):
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, int) and not isinstance(item, bool):
                    yield item


def _counts(op: Op, key: str) -> bool:
    """Whether an attribute is a size or position, and no number to compute with."""
    kind = op.schema[key]
    others: tuple[Attr, ...] = (0.5, (0.5,), True, ("...",))
    return not any(kind.accepts(other) for other in others)


def _changed(graph: Graph, change: Mapping[int, int]) -> Graph | None:
    """The graph with those sizes in the place of others; None where its operators do not have that."""
    change = dict(change)
    for _ in range(REPAIRS):
        try:
            return _with_sizes(graph, change)
        except _Refused as refused:
            if change.items() >= refused.seen.items():
                return None
            change = {**refused.seen, **change}
    return None


class _Refused(Exception):
    """`seen` are sizes that operands of the node have now, by those that they had."""

    def __init__(self, seen: Mapping[int, int]) -> None:
        self.seen = seen


def _with_sizes(graph: Graph, change: Mapping[int, int]) -> Graph:
    inputs = tuple(_resized(item, change) for item in graph.inputs)
    types = {item.value.name: item.value.type for item in inputs}
    nodes: list[Node] = []
    old = graph.types
    for node in graph.nodes:
        attrs = {key: _mapped(TABLE[node.op], key, value, change) for key, value in node.attrs.items()}
        try:
            inferred = TABLE[node.op].results(tuple(types[name] for name in node.args), attrs)
        except Invalid:
            raise _Refused(_seen(node, old, types)) from None
        if not _alike(inferred, tuple(value.type for value in node.results)):
            raise _Refused(_seen(node, old, types))
        results = tuple(Value(value.name, type) for value, type in zip(node.results, inferred, strict=True))
        types |= {value.name: value.type for value in results}
        nodes.append(replace(node, attrs=attrs, results=results))
    return replace(graph, inputs=inputs, nodes=tuple(nodes))


def _alike(new: tuple[TensorType, ...], old: tuple[TensorType, ...]) -> bool:
    """The same number of results, each of the dtype and rank that it had, none of them empty now."""
    return len(new) == len(old) and all(
        (a.dtype, a.rank) == (b.dtype, b.rank) and (a.numel > 0 or b.numel == 0) for a, b in zip(new, old, strict=True)
    )


def _seen(node: Node, old: Mapping[str, TensorType], new: Mapping[str, TensorType]) -> dict[int, int]:
    pairs = ((a, b) for name in node.args for a, b in zip(old[name].sizes, new[name].sizes, strict=True))
    return {before: now for before, now in pairs if before != now and before > SMALL}


def _resized(item: Input, change: Mapping[int, int]) -> Input:
    type = item.value.type
    sizes = (change.get(size, size) for size in type.sizes)
    return replace(item, value=Value(item.value.name, type.with_shape(*sizes)))


def _mapped(op: Op, key: str, value: Attr, change: Mapping[int, int]) -> Attr:
    if not _counts(op, key):
        return value
    if isinstance(value, tuple):
        return tuple(_moved(item, change) if isinstance(item, int) else item for item in value)
    return _moved(value, change) if isinstance(value, int) else value


def _moved(number: int, change: Mapping[int, int]) -> int:
    """Positions from the end are negative."""
    return -change.get(-number, -number) if number < 0 else change.get(number, number)


def _require_small(graph: Graph) -> None:
    types, work = graph.types, 0
    for type in types.values():
        if type.numel > MAX_NUMEL:
            raise TooLarge(f"{type} stays as large as that")
    for node in graph.nodes:
        terms = TABLE[node.op].terms
        if terms:
            per_element = terms(tuple(types[name] for name in node.args), node.attrs)
            work += per_element * max(math.prod(value.type.sizes) for value in node.results)
    if work > MAX_WORK:
        raise TooLarge(f"it takes {work} multiply-adds")
