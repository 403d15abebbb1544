"""Make dimensions smaller: first all dimensions of one size (operands often share it), then one dimension at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Array, Attr, Dim, Graph, Input, Node, TensorType
from generators.op import SIZES
from generators.table import TABLE

LARGE = 128
"""A larger size is not made smaller by one."""


def shrink_dims(subject: Subject) -> Iterator[Subject]:
    """Propose the leading part of each dimension.

    If the failure has no message, its numbers may matter: then the last element of a dimension is proposed too.
    """
    graph = subject.graph
    sizes = sorted({size for item in graph.inputs for size in _static_sizes(item) if size > 1}, reverse=True)
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
    """A large size becomes smaller by a sixteenth at a time: one at a time would use up the whole effort."""
    less = size - 1 if size <= LARGE else size - size // 16
    return sorted({target for target in (1, 2, size // 2, less) if 0 < target < size})


def _ends(subject: Subject, target: int) -> tuple[bool, ...]:
    """Return which parts of a dimension are proposed: False for the beginning, True for the end."""
    return (False, True) if subject.needs_ops and target == 1 else (False,)


def _static_sizes(item: Input) -> list[int]:
    """Return the static sizes of an input."""
    return [size for size in item.value.type.shape if isinstance(size, int)]


def _substituted(shape: tuple[Dim, ...], size: int, target: int) -> tuple[Dim, ...]:
    return tuple(target if d == size else d for d in shape)


def _resized(
    subject: Subject, shapes: dict[str, tuple[Dim, ...]], end: bool, size: int = -9, target: int = -9
) -> Subject:
    """Crop inputs to the shapes `shapes`, to their last part if `end` is true.

    If `size` is positive, attributes that list sizes or types get `target` in place of `size`.
    """
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
    """Return the leading part of the array, or the last part. Open dimensions are not cropped."""
    sizes = [size if isinstance(size, int) else old for size, old in zip(shape, array.shape, strict=False)]
    starts = [old - size if end else 0 for size, old in zip(sizes, array.shape, strict=False)]
    return array[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))].copy()


def _with_sizes(node: Node, size: int, target: int) -> Node:
    """Replace `size` by `target` in attributes that list sizes (reshape, expand, split, normalized_shape), and in the
    types that a call without a row has. No rule infers these: what declares others than the reference gives shows no
    failure."""

    def adapted(key: str, value: Attr) -> Attr:
        kind = TABLE[node.op].schema[key]
        if kind is SIZES and isinstance(value, tuple):
            return tuple(target if item == size else item for item in value)
        if kind.types and isinstance(value, tuple):
            types = (TensorType.parse(str(text)) for text in value)
            return tuple(str(type.with_shape(*_substituted(type.shape, size, target))) for type in types)
        return value

    return replace(node, attrs={key: adapted(key, value) for key, value in node.attrs.items()})
