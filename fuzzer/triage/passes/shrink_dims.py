"""Smaller dimensions: one size everywhere it stands (operands of one operator often share it), then one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Array, Attr, Graph, Input, Node
from generators.ops import TABLE
from generators.ops.base import SIZES


def shrink_dims(subject: Subject) -> Iterator[Subject]:
    graph = subject.graph
    if graph.symbols:
        return  # sizes that are open have no smaller ones
    sizes = sorted({size for item in graph.inputs for size in item.value.type.sizes if size > 1}, reverse=True)
    for size in sizes:
        for target in _targets(size):
            yield _resized(
                subject,
                {i.value.name: _substituted(i.value.type.sizes, size, target) for i in graph.inputs},
                size,
                target,
            )
    for item in graph.inputs:
        shape = item.value.type.sizes
        for axis, size in enumerate(shape):
            for target in _targets(size):
                yield _resized(subject, {item.value.name: (*shape[:axis], target, *shape[axis + 1 :])})


def _targets(size: int) -> list[int]:
    return sorted({target for target in (1, 2, size // 2, size - 1) if 0 < target < size})


def _substituted(shape: tuple[int, ...], size: int, target: int) -> tuple[int, ...]:
    return tuple(target if d == size else d for d in shape)


def _resized(subject: Subject, shapes: dict[str, tuple[int, ...]], size: int = -9, target: int = -9) -> Subject:
    """Inputs cropped to the new shapes; where `size` gave way to `target`, shape attributes follow."""
    graph = subject.graph

    def resized(item: Input) -> Input:
        shape = shapes.get(item.value.name)
        return (
            item if shape is None else replace(item, value=replace(item.value, type=item.value.type.with_shape(*shape)))
        )

    tensors = {name: _cropped(array, shapes.get(name, array.shape)) for name, array in subject.case.tensors.items()}
    nodes = tuple(_with_sizes(node, size, target) for node in graph.nodes) if size > 0 else graph.nodes
    changed: Graph = replace(graph, inputs=tuple(map(resized, graph.inputs)), nodes=nodes)
    return subject.with_graph(changed, tensors)


def _cropped(array: Array, shape: tuple[int, ...]) -> Array:
    return array[tuple(slice(0, size) for size in shape)].copy()


def _with_sizes(node: Node, size: int, target: int) -> Node:
    """Sizes in attributes (reshape, expand, split, normalized_shape) follow their dimension."""

    def follow(key: str, value: Attr) -> Attr:
        if TABLE[node.op].schema[key] is SIZES and isinstance(value, tuple):
            return tuple(target if item == size else item for item in value)
        return value

    return replace(node, attrs={key: follow(key, value) for key, value in node.attrs.items()})
