"""Remove dimensions of size 1. Attributes that name dimensions or list sizes are adapted.

No tensor loses its only dimension, because tensors of rank 0 have bugs of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Array, Attr, Graph, Input, Node, Scalar
from generators.op import SIZES
from generators.table import TABLE

AXES = (
    *("dim", "dim0", "dim1", "dim2", "dims", "dims_self", "dims_other", "dimension", "start_dim", "end_dim"),
    *("axis", "axis0", "axis1", "source", "destination"),
    *("axes", "perm"),  # of ONNX
)
"""Attributes whose values are indices of dimensions. Negative values count from the end."""

PER_DIMENSION = ("kernel_shape", "strides", "dilations", "output_padding", "output_shape", "scales", "sizes")
"""Attributes of ONNX with a number for each dimension: of all, or of those after batch and channel."""


def lower_rank(subject: Subject) -> Iterator[Subject]:
    """Propose 1, 2, 3, ... dimensions for all inputs, then one dimension less for all, then one less for one input.

    Dimensions are counted from the last one, as in broadcasting.
    """
    inputs = subject.graph.inputs
    most = max((item.value.type.rank for item in inputs), default=0)
    all_names = frozenset(item.value.name for item in inputs)
    for left in range(1, most):
        yield from _without(subject, range(left, most), all_names, most)
    for place in reversed(range(most)):
        yield from _without(subject, (place,), all_names, most)
    for item in inputs if len(inputs) > 1 else ():
        rank = item.value.type.rank
        for place in reversed(range(rank)):
            yield from _without(subject, (place,), frozenset({item.value.name}), rank)


def _without(subject: Subject, places: Collection[int], names: frozenset[str], rank: int) -> Iterator[Subject]:
    """Propose the named inputs without the dimensions at `places`, counted from the last one.

    Propose nothing if one of these is not of size 1, or if a tensor would lose all its dimensions. `rank` is the rank
    to which the attributes of the calls refer.
    """
    graph = subject.graph
    inputs: list[Input] = []
    tensors: dict[str, Array] = dict(subject.case.tensors)
    for item in graph.inputs:
        shape = item.value.type.shape
        removed = (
            {len(shape) - 1 - place for place in places if place < len(shape)} if item.value.name in names else set()
        )
        if any(shape[axis] != 1 for axis in removed) or (shape and len(removed) == len(shape)):
            return
        kept = [size for axis, size in enumerate(shape) if axis not in removed]
        inputs.append(replace(item, value=replace(item.value, type=item.value.type.with_shape(*kept))))
        tensors[item.value.name] = tensors[item.value.name].squeeze(tuple(removed))
    nodes = tuple(_without_dimensions(node, {rank - 1 - place for place in places}, rank) for node in graph.nodes)
    changed: Graph = replace(graph, inputs=tuple(inputs), nodes=nodes)
    yield subject.with_graph(changed, tensors)
    if nodes != graph.nodes:  # for calls whose operands have another rank
        yield subject.with_graph(replace(changed, nodes=graph.nodes), tensors)


def _without_dimensions(node: Node, removed: set[int], rank: int) -> Node:
    """Adapt the attributes of a call to operands of rank `rank` from which the dimensions `removed` were removed."""
    kept = [axis for axis in range(rank) if axis not in removed]

    def moved(axis: int) -> int:
        place = axis + rank if axis < 0 else axis
        now = sum(other < place for other in kept)
        now = max(0, min(now, len(kept) - 1))
        return now - len(kept) if axis < 0 and kept else now

    def adapted(key: str, value: Attr) -> Attr:
        if key in AXES and isinstance(value, int) and not isinstance(value, bool):
            return moved(value)
        if key in AXES and isinstance(value, tuple):
            stay = [axis for axis in value if isinstance(axis, int) and axis % max(rank, 1) not in removed]
            return tuple(map(moved, stay))
        if key == "pad" and isinstance(value, tuple):  # pairs, those of the last dimension first
            return tuple(item for i, item in enumerate(value) if rank - 1 - i // 2 not in removed)
        if key == "pads" and isinstance(value, tuple):  # of ONNX: those before each dimension, then those after
            half = len(value) // 2
            return (*_left(value[:half], removed, rank), *_left(value[half:], removed, rank))
        if key in PER_DIMENSION and isinstance(value, tuple):
            return _left(value, removed, rank)
        if TABLE[node.op].schema[key] is SIZES and isinstance(value, tuple) and len(value) == rank:
            return tuple(value[axis] for axis in kept)
        return value

    return replace(node, attrs={key: adapted(key, value) for key, value in node.attrs.items()})


def _left(numbers: tuple[Scalar, ...], removed: set[int], rank: int) -> tuple[Scalar, ...]:
    """Return the numbers of the dimensions that are not removed, where they are those of the last dimensions."""
    first = rank - len(numbers)
    return tuple(number for place, number in enumerate(numbers) if place + first not in removed)
