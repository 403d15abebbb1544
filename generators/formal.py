"""From sizes that remember their formulas, as a builder reckons, to the formulas and plain numbers of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.graph import Attr, Graph, Symbol, Value
from generators.symbolic import Size


def formal(graph: Graph, symbols: Sequence[Symbol]) -> Graph:
    """Formulas in place of the sizes that have one, and those of the symbols that are in them."""

    def written(value: Value) -> Value:
        return Value(value.name, value.type.formal())

    nodes = tuple(replace(node, results=tuple(map(written, node.results))) for node in graph.nodes)
    inputs = tuple(replace(item, value=written(item.value)) for item in graph.inputs)
    values = [*(item.value for item in inputs), *(value for node in nodes for value in node.results)]
    used = {name for value in values for name in value.type.symbols}
    return Graph(inputs, nodes, graph.outputs, symbols=tuple(s for s in symbols if s.name in used))


def plain_attr(attr: Attr) -> Attr:
    """Attributes hold numbers: a formula in one would hold for one size only."""
    if isinstance(attr, Size):
        return int(attr)
    return tuple(int(item) if isinstance(item, Size) else item for item in attr) if isinstance(attr, tuple) else attr
