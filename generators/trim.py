"""Removes nodes from a graph. Their results become inputs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from generators.check import retyped
from generators.domain import ANY
from generators.graph import Form, Graph, Input, Invalid, Node
from generators.guards import is_guard, range_of
from generators.operator_class import OperatorClass
from generators.table import TABLE


def keep_nodes(graph: Graph, kept: Collection[int]) -> Graph:
    """Return the graph with only the nodes of these numbers and the guards that they need.

    If `kept` is empty, the last node is kept. If the smaller graph is not valid, the graph is returned unchanged.
    """
    nodes = _kept_nodes_and_guards(graph, kept or {len(graph.nodes) - 1})
    results = {value.name for node in nodes for value in node.results}
    read = {name for node in nodes for name in node.args}
    new = tuple(
        Input(value, domain=range_of(node))
        for node in graph.nodes
        for value in node.results
        if value.name in read - results
    )
    new_names = {item.value.name for item in new}
    nodes = [node.not_in_place if new_names.intersection(node.args[:1]) else node for node in nodes]
    overwritten = {node.args[0] for node in nodes if node.form is Form.INPLACE}
    outputs = [name for name in graph.outputs if name in results] or sorted(results - read - overwritten)
    if len(nodes) == len(graph.nodes) or not outputs:
        return graph
    inputs = tuple(item for item in graph.inputs if item.value.name in read)
    smaller = replace(graph, inputs=inputs + new, nodes=tuple(nodes), outputs=tuple(outputs))
    try:
        retyped(smaller.bind({symbol.name: symbol.high for symbol in smaller.symbols}))
    except Invalid:
        return graph
    return smaller


def _kept_nodes_and_guards(graph: Graph, kept: Collection[int]) -> list[Node]:
    """Return the kept nodes and the guards that they need, in order. A guard is removed only if the domain of the input
    that replaces its result has the same bounds."""
    remaining: list[Node] = []
    for index, node in reversed(list(enumerate(graph.nodes))):
        names = {value.name for value in node.results}
        readers = [other for other in remaining if not names.isdisjoint(other.args)]
        is_needed_guard = is_guard(node.op) and range_of(node) == ANY and len(readers) > 0
        if OperatorClass.NAN_REPLACEMENT in TABLE[node.op].classes:
            is_needed_guard = any(OperatorClass.CLAMP in TABLE[reader.op].classes for reader in readers)
        if index in kept or is_needed_guard:
            remaining.append(node)
    return remaining[::-1]
