"""Fewer dimensions: those of size 1 go, down to the last one. Attributes that name dimensions or list sizes follow.

No tensor loses its last dimension: 0-d tensors are special, and have bugs of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Array, Attr, Graph, Input, Node
from generators.ops import TABLE
from generators.ops.base import SIZES

AXES = (
    *("dim", "dim0", "dim1", "dim2", "dims", "dims_self", "dims_other", "dimension", "start_dim", "end_dim"),
    *("axis", "axis0", "axis1", "source", "destination"),
)
"""Attributes that count dimensions, from either end."""


def lower_rank(subject: Subject) -> Iterator[Subject]:
    """One left of all, or two, or three, ...; then all but any one; then one input alone loses one. Operands are taken
    to be aligned at the last dimension, as they broadcast."""
    inputs = subject.graph.inputs
    most = max((item.value.type.rank for item in inputs), default=0)
    everybody = frozenset(item.value.name for item in inputs)
    for left in range(1, most):
        yield from _without(subject, range(left, most), everybody, most)
    for place in reversed(range(most)):
        yield from _without(subject, (place,), everybody, most)
    for item in inputs if len(inputs) > 1 else ():
        rank = item.value.type.rank
        for place in reversed(range(rank)):
            yield from _without(subject, (place,), frozenset({item.value.name}), rank)


def _without(subject: Subject, places: Collection[int], names: frozenset[str], rank: int) -> Iterator[Subject]:
    """Without the dimensions at these places, counted from the last one; nothing where one is not of size 1, or all
    that a tensor has."""
    graph = subject.graph
    inputs: list[Input] = []
    tensors: dict[str, Array] = dict(subject.case.tensors)
    for item in graph.inputs:
        shape = item.value.type.shape
        gone = {len(shape) - 1 - place for place in places if place < len(shape)} if item.value.name in names else set()
        if any(shape[axis] != 1 for axis in gone) or (shape and len(gone) == len(shape)):
            return
        kept = [size for axis, size in enumerate(shape) if axis not in gone]
        inputs.append(replace(item, value=replace(item.value, type=item.value.type.with_shape(*kept))))
        tensors[item.value.name] = tensors[item.value.name].squeeze(tuple(gone))
    nodes = tuple(_following(node, {rank - 1 - place for place in places}, rank) for node in graph.nodes)
    changed: Graph = replace(graph, inputs=tuple(inputs), nodes=nodes)
    yield subject.with_graph(changed, tensors)
    if nodes != graph.nodes:  # operands of another rank are counted otherwise
        yield subject.with_graph(replace(changed, nodes=graph.nodes), tensors)


def _following(node: Node, gone: set[int], rank: int) -> Node:
    """The call on operands of `rank` dimensions that lack some."""
    kept = [axis for axis in range(rank) if axis not in gone]

    def moved(axis: int) -> int:
        place = axis + rank if axis < 0 else axis
        now = sum(other < place for other in kept)
        now = max(0, min(now, len(kept) - 1))
        return now - len(kept) if axis < 0 and kept else now

    def follow(key: str, value: Attr) -> Attr:
        if key in AXES and isinstance(value, int) and not isinstance(value, bool):
            return moved(value)
        if key in AXES and isinstance(value, tuple):
            stay = [axis for axis in value if isinstance(axis, int) and axis % max(rank, 1) not in gone]
            return tuple(map(moved, stay))
        if key == "pad" and isinstance(value, tuple):  # pairs, those of the last dimension first
            return tuple(item for i, item in enumerate(value) if rank - 1 - i // 2 not in gone)
        if TABLE[node.op].schema[key] is SIZES and isinstance(value, tuple) and len(value) == rank:
            return tuple(value[axis] for axis in kept)
        return value

    return replace(node, attrs={key: follow(key, value) for key, value in node.attrs.items()})
