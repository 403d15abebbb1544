"""Give a graph small sizes, so that its case runs in milliseconds.

A size is changed everywhere in the graph, in inputs and in attributes. The type inference of the operators then decides
whether the graph is still valid. Sizes depend on each other: 12 heads of size 64 are 768 elsewhere, and concatenation
adds sizes. So a size is first changed together with all its multiples, and then alone. Where an operator does not
accept its operands, the changes that its operands have are applied to the whole graph, and the graph is tried again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from generators.graph import Attr, Graph, Input, Invalid, Node, TensorType, Value
from generators.op import Op
from generators.table import TABLE

SMALL = 8
"""Sizes up to this one stay."""
TARGETS = (4, 6, 8, 3, 5, 7, 12, 16, 24, 32, 64)
"""The sizes that are tried for a larger one. Targets that the graph does not have yet come first, so that different
sizes stay different where possible."""
MAX_NUMEL = 1 << 15
MAX_WORK = 20_000_000
REPAIRS = 6


class TooLarge(Exception):
    """The graph cannot be made small. The message names what stays large."""


def shrunk(graph: Graph) -> Graph:
    """The graph with every size as small as its operators allow. Raise `TooLarge`."""
    before = None
    while graph != before:
        before = graph
        for size in sorted(large_sizes(graph), reverse=True):
            graph = _without_size(graph, size)
    _require_small(graph)
    return graph


def _without_size(graph: Graph, size: int) -> Graph:
    present = {size for value in graph.values() for size in value.type.sizes}
    targets = [target for target in TARGETS if target < size]
    targets.sort(key=lambda target: target in present)
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
        if _is_size(TABLE[node.op], key):
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, int) and not isinstance(item, bool):
                    yield item


def _is_size(op: Op, key: str) -> bool:
    """Whether an attribute is a size or position: its kind accepts integers only."""
    kind = op.schema[key]
    others: tuple[Attr, ...] = (0.5, (0.5,), True, ("...",))
    return not any(kind.accepts(other) for other in others)


def _changed(graph: Graph, change: Mapping[int, int]) -> Graph | None:
    """The graph with changed sizes, by the old ones; None where its operators do not accept them."""
    change = dict(change)
    for _ in range(REPAIRS):
        try:
            return _with_sizes(graph, change)
        except _Refused as refused:
            if change.items() >= refused.changes.items():
                return None
            change = {**refused.changes, **change}
    return None


class _Refused(Exception):
    """An operator does not accept its operands. `changes` maps the old sizes of its operands to the new ones."""

    def __init__(self, changes: Mapping[int, int]) -> None:
        self.changes = changes


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
            raise _Refused(_changed_sizes(node, old, types)) from None
        if not _alike(inferred, tuple(value.type for value in node.results)):
            raise _Refused(_changed_sizes(node, old, types))
        results = tuple(Value(value.name, type) for value, type in zip(node.results, inferred, strict=True))
        types |= {value.name: value.type for value in results}
        nodes.append(replace(node, attrs=attrs, results=results))
    return replace(graph, inputs=inputs, nodes=tuple(nodes))


def _alike(new: tuple[TensorType, ...], old: tuple[TensorType, ...]) -> bool:
    """Whether the results have the dtypes and ranks that they had, and none has become empty."""
    return len(new) == len(old) and all(
        (a.dtype, a.rank) == (b.dtype, b.rank) and (a.numel > 0 or b.numel == 0) for a, b in zip(new, old, strict=True)
    )


def _changed_sizes(node: Node, old: Mapping[str, TensorType], new: Mapping[str, TensorType]) -> dict[int, int]:
    pairs = ((a, b) for name in node.args for a, b in zip(old[name].sizes, new[name].sizes, strict=True))
    return {before: now for before, now in pairs if before != now and before > SMALL}


def _resized(item: Input, change: Mapping[int, int]) -> Input:
    type = item.value.type
    sizes = (change.get(size, size) for size in type.sizes)
    return replace(item, value=Value(item.value.name, type.with_shape(*sizes)))


def _mapped(op: Op, key: str, value: Attr, change: Mapping[int, int]) -> Attr:
    if not _is_size(op, key):
        return value
    if isinstance(value, tuple):
        return tuple(_moved(item, change) if isinstance(item, int) else item for item in value)
    return _moved(value, change) if isinstance(value, int) else value


def _moved(number: int, change: Mapping[int, int]) -> int:
    """The number after the change. A negative number is a position from the end."""
    return -change.get(-number, -number) if number < 0 else change.get(number, number)


def _require_small(graph: Graph) -> None:
    types, work = graph.types, 0
    for type in types.values():
        if math.prod(max(size, 1) for size in type.sizes) > MAX_NUMEL:  # numpy counts an empty array in this way too
            raise TooLarge(f"{type} stays as large as that")
    for node in graph.nodes:
        terms = TABLE[node.op].terms
        if terms:
            per_element = terms(tuple(types[name] for name in node.args), node.attrs)
            work += per_element * max(math.prod(value.type.sizes) for value in node.results)
    if work > MAX_WORK:
        raise TooLarge(f"it takes {work} multiply-adds")
