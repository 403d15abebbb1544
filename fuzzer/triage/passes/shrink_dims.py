"""Smaller dimensions: one size everywhere it stands (operands of one operator often share it), then one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Array, Attr, Dim, Graph, Input, Node
from generators.ops import TABLE
from generators.ops.base import SIZES


def shrink_dims(subject: Subject) -> Iterator[Subject]:
    """Leading parts; where no message tells what is wrong, perhaps its numbers do, and the last one of a dimension may
    be what is needed."""
    graph = subject.graph
    sizes = sorted({size for item in graph.inputs for size in _known(item) if size > 1}, reverse=True)
    for size in sizes:
        for target in _targets(size):
            shapes = {i.value.name: _substituted(i.value.type.shape, size, target) for i in graph.inputs}
            for end in _ends(subject, target):
                yield _resized(subject, shapes, end, size, target)
    for item in graph.inputs:
        shape = item.value.type.shape
        for axis, known in enumerate(shape):
            for target in _targets(known) if isinstance(known, int) else ():
                for end in _ends(subject, target):
                    yield _resized(subject, {item.value.name: (*shape[:axis], target, *shape[axis + 1 :])}, end)


def _targets(size: int) -> list[int]:
    return sorted({target for target in (1, 2, size // 2, size - 1) if 0 < target < size})


def _ends(subject: Subject, target: int) -> tuple[bool, ...]:
    """Which end of a dimension may be left: False for its beginning, True for its end."""
    return (False, True) if subject.needs_ops and target == 1 else (False,)


def _known(item: Input) -> list[int]:
    """Its sizes that are not open."""
    return [size for size in item.value.type.shape if isinstance(size, int)]


def _substituted(shape: tuple[Dim, ...], size: int, target: int) -> tuple[Dim, ...]:
    return tuple(target if d == size else d for d in shape)


def _resized(
    subject: Subject, shapes: dict[str, tuple[Dim, ...]], end: bool, size: int = -9, target: int = -9
) -> Subject:
    """Inputs cropped to the new shapes, at one end or the other. Where `size` gave way to `target`, shape attributes
    follow."""
    graph = subject.graph

    def resized(item: Input) -> Input:
        shape = shapes.get(item.value.name)
        return (
            item if shape is None else replace(item, value=replace(item.value, type=item.value.type.with_shape(*shape)))
        )

    tensors = {name: _cropped(array, shapes.get(name, ()), end) for name, array in subject.case.tensors.items()}
    nodes = tuple(_with_sizes(node, size, target) for node in graph.nodes) if size > 0 else graph.nodes
    changed: Graph = replace(graph, inputs=tuple(map(resized, graph.inputs)), nodes=nodes)
    return subject.with_graph(changed, tensors)


def _cropped(array: Array, shape: tuple[Dim, ...], end: bool) -> Array:
    """The leading part, or the last one; where a size is open, all there is."""
    sizes = [size if isinstance(size, int) else had for size, had in zip(shape, array.shape, strict=False)]
    starts = [had - size if end else 0 for size, had in zip(sizes, array.shape, strict=False)]
    return array[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))].copy()


def _with_sizes(node: Node, size: int, target: int) -> Node:
    """Sizes in attributes (reshape, expand, split, normalized_shape) follow their dimension."""

    def follow(key: str, value: Attr) -> Attr:
        if TABLE[node.op].schema[key] is SIZES and isinstance(value, tuple):
            return tuple(target if item == size else item for item in value)
        return value

    return replace(node, attrs={key: follow(key, value) for key, value in node.attrs.items()})
