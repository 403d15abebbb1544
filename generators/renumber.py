"""Gives the values of a case their standard names."""

from __future__ import annotations

from dataclasses import replace

from generators.graph import Case, Role, Value


def renumbered(case: Case) -> Case:
    """Return the case with its values named x0, x1, ... (inputs), w0, ... (parameters), b0, ... (buffers) and v0, ...
    (results), in order. Two reductions of one bug to the same graph then give equal files."""
    graph = case.graph
    names: dict[str, str] = {}
    for role, letter in ((Role.INPUT, "x"), (Role.PARAM, "w"), (Role.BUFFER, "b")):
        for index, item in enumerate(i for i in graph.inputs if i.role is role):
            names[item.value.name] = f"{letter}{index}"
    for index, value in enumerate(value for node in graph.nodes for value in node.results):
        names[value.name] = f"v{index}"

    def named(value: Value) -> Value:
        return Value(names[value.name], value.type)

    inputs = tuple(replace(item, value=named(item.value)) for item in graph.inputs)
    nodes = tuple(
        replace(node, args=tuple(names[arg] for arg in node.args), results=tuple(map(named, node.results)))
        for node in graph.nodes
    )
    renamed = replace(graph, inputs=inputs, nodes=nodes, outputs=tuple(names[name] for name in graph.outputs))
    return replace(case, graph=renamed, tensors={names[name]: array for name, array in case.tensors.items()})
