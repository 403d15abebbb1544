"""Turns the sizes of a builder, which keep their formulas, into the formulas and numbers of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.graph import Attr, Graph, Symbol, Value
from generators.symbolic import Size


def formal(graph: Graph, symbols: Sequence[Symbol]) -> Graph:
    """Return the graph with formulas in place of the sizes that have one, and with the symbols that occur in them."""

    def formal_value(value: Value) -> Value:
        return Value(value.name, value.type.formal())

    nodes = tuple(replace(node, results=tuple(map(formal_value, node.results))) for node in graph.nodes)
    inputs = tuple(replace(item, value=formal_value(item.value)) for item in graph.inputs)
    values = [*(item.value for item in inputs), *(value for node in nodes for value in node.results)]
    used = {name for value in values for name in value.type.symbols}
    return replace(graph, inputs=inputs, nodes=nodes, symbols=tuple(s for s in symbols if s.name in used))


def plain_attr(attr: Attr) -> Attr:
    """Return the attribute without formulas. An attribute is one number for all sizes of a graph."""
    if isinstance(attr, Size):
        return int(attr)
    return tuple(int(item) if isinstance(item, Size) else item for item in attr) if isinstance(attr, tuple) else attr
