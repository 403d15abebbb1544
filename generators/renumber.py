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
    given = case.given and replace(
        case.given,
        graph=renamed,
        names={names[own]: its for own, its in case.given.names.items()},
        made={names[own]: its for own, its in case.given.made.items()},
        small={names[own]: dtype for own, dtype in case.given.small.items()},
    )
    tensors = {names[name]: array for name, array in case.tensors.items()}
    return replace(case, graph=renamed, tensors=tensors, given=given)


def in_order_of_use(case: Case) -> Case:
    """Return the case with its inputs in the order in which its calls read them."""
    graph = case.graph
    read = list(dict.fromkeys(arg for node in graph.nodes for arg in node.args))
    place = {name: number for number, name in enumerate(read)}
    inputs = sorted(graph.inputs, key=lambda item: place.get(item.value.name, len(read)))
    return replace(case, graph=replace(graph, inputs=tuple(inputs)))
