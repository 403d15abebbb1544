"""Which floats of a graph differ, as far as types and operators tell.

Where all judged numbers of a case are equal, a wrong index, order or axis cannot show (`oracles/judged_elements.py`).
Graphs are drawn so that few are like that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.dialect import dialect_named
from generators.graph import Form, Graph, Layout, TensorType

LEAST = 3
"""Tensors with fewer elements do not count: one or two of them are easily equal, or not judged."""


def may_differ(graph: Graph) -> frozenset[str]:
    """The floats of a graph without symbols that differ, unless numbers meet by chance."""
    found = {
        item.value.name
        for item in graph.inputs
        if _is_large(item.value.type, item.value.type.sizes[0] if item.layout is Layout.EXPANDED else 1)
    }
    flattening = dialect_named(graph.dialect).flattening
    for node in graph.nodes:
        if node.title not in flattening and not found.isdisjoint(node.args):
            found.update(value.name for value in node.results if _is_large(value.type))
    return frozenset(found)


def _is_large(type: TensorType, copies: int = 1) -> bool:
    return type.dtype.is_float and type.numel >= LEAST * copies


def shows_little(graph: Graph) -> bool:
    """Whether a graph without symbols has floats in its outputs, and none of them that differ."""
    types, differ = graph.types, may_differ(graph)
    floats = [name for name in graph.outputs if types[name].dtype.is_float]
    return bool(floats) and differ.isdisjoint(floats)


def with_output_that_shows(graph: Graph, bound: Graph) -> Graph:
    """The graph; where it shows little, with one more output: the last result on the way that shows more, if one does.
    `bound` is the graph without its symbols."""
    last = list(_on_the_way(bound))[-1:] if shows_little(bound) else []
    return replace(graph, outputs=(*graph.outputs, *last)) if last else graph


def _on_the_way(graph: Graph) -> Iterator[str]:
    """The floats that differ, that a node reads, and that none overwrites. A value that nothing reads was left out of
    the outputs on purpose."""
    differ = may_differ(graph)
    read = {name for node in graph.nodes for name in node.args}
    overwritten = {node.args[0] for node in graph.nodes if node.form is Form.INPLACE}
    for node in graph.nodes:
        for value in node.results:
            if value.type.dtype.is_float and value.name in (differ & read) - overwritten:
                yield value.name
