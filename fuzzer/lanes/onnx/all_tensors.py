"""All tensors and nodes of a file of ONNX, wherever it has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx


def tensors_of(graph: Any) -> Iterator[Any]:
    """Yield all tensors of a graph or function, including those in attributes of nodes."""
    if isinstance(graph, onnx.GraphProto):
        yield from graph.initializer
        yield from (part for sparse in graph.sparse_initializer for part in (sparse.values, sparse.indices))
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for body in (attribute.g, *attribute.graphs):
                yield from tensors_of(body)


def nodes_of(graph: Any) -> Iterator[Any]:
    """Yield all nodes of a graph or function, including those of graphs in attributes of nodes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                yield from nodes_of(body)
