"""A graph without some of its calls: what they gave becomes inputs."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from generators.check import retyped
from generators.domain import ANY, Domain, within
from generators.graph import Form, Graph, Input, Invalid, Node
from generators.ops.guard import GUARDS


def without(graph: Graph, kept: Collection[int]) -> Graph:
    """The graph with the calls of these numbers alone (the last one, where there is none), and the guards that they
    need; the graph itself where that does not work out."""
    nodes = _needed(graph, kept or {len(graph.nodes) - 1})
    made = {value.name for node in nodes for value in node.results}
    read = {name for node in nodes for name in node.args}
    new = tuple(
        Input(value, domain=_domain(node))
        for node in graph.nodes
        for value in node.results
        if value.name in read - made
    )
    fresh = {item.value.name for item in new}
    nodes = [node.not_in_place if fresh.intersection(node.args[:1]) else node for node in nodes]
    changed = {node.args[0] for node in nodes if node.form is Form.INPLACE}
    outputs = [name for name in graph.outputs if name in made] or sorted(made - read - changed)
    if len(nodes) == len(graph.nodes) or not outputs:
        return graph
    inputs = tuple(item for item in graph.inputs if item.value.name in read)
    smaller = replace(graph, inputs=inputs + new, nodes=tuple(nodes), outputs=tuple(outputs))
    try:
        retyped(smaller.bind({symbol.name: symbol.high for symbol in smaller.symbols}))
    except Invalid:
        return graph
    return smaller


def _needed(graph: Graph, kept: Collection[int]) -> list[Node]:
    """In order. A guard goes only where a domain says what it said."""
    stay: list[Node] = []
    for index, node in reversed(list(enumerate(graph.nodes))):
        names = {value.name for value in node.results}
        readers = [other for other in stay if not names.isdisjoint(other.args)]
        guards = node.op in GUARDS and _domain(node) == ANY and len(readers) > 0
        if node.op == "nan_to_num":
            guards = any(reader.op == "clamp" for reader in readers)
        if index in kept or guards:
            stay.append(node)
    return stay[::-1]


def _domain(node: Node) -> Domain:
    """What an input in the place of the node's result must be."""
    low, high = node.attrs.get("min"), node.attrs.get("max")
    if node.op == "clamp" and isinstance(low, int | float) and isinstance(high, int | float):
        first, last = math.ceil(low), min(math.floor(high), 10**9 - 1)
        return within(first, last) if first <= last else ANY
    return ANY
