"""A part of a case with the same part of its given model."""

from __future__ import annotations

from dataclasses import replace

from generators.dialect import dialect_named
from generators.graph import Case, Given, Graph, Invalid


def with_part_of_given(case: Case, part: Case) -> Case:
    """Return `part` with that part of the case's given model that has its values. Further inputs that the model reads
    there become inputs of the part.

    The nodes of the part must be nodes of the case, and its values have the names that they have in the case. Raise
    `Invalid` where that is not so, where the model has no names for the values between which it is cut, and where it
    cannot be cut there.
    """
    given = case.given
    if given is None:
        raise Invalid("the case has no given model")
    if part.graph == case.graph:
        return replace(part, graph=case.graph, given=given)
    _require_part(case.graph, part.graph)
    _require_known_ends(case, part.graph)
    names = {**given.names, **given.made}
    if missing := [name for name in (*part.tensors, *part.graph.outputs) if name not in names]:
        raise Invalid(f"the given model has no name for {missing[0]}")
    items = {names[item.value.name]: item for item in part.graph.inputs}
    types = part.graph.types
    outputs = {names[name]: types[name] for name in part.graph.outputs}
    if len(outputs) < len(part.graph.outputs):
        raise Invalid("the part returns a value twice")
    model, taken = dialect_named(part.graph.dialect).cut_given(given.model, items, outputs)
    own = {its: name for name, its in given.names.items()}
    if unknown := [name for name in taken if name not in own]:
        raise Invalid(f"the part reads {unknown[0]!r}, and the case does not have its numbers")
    further = tuple(item for item in case.graph.inputs if item.value.name in {own[name] for name in taken})
    further = tuple(sorted(further, key=lambda item: taken.index(given.names[item.value.name])))
    graph = replace(part.graph, inputs=(*part.graph.inputs, *further))
    tensors = {**part.tensors, **{item.value.name: case.tensors[item.value.name] for item in further}}
    here = {item.value.name: names[item.value.name] for item in graph.inputs}
    computed = {value.name for node in graph.nodes for value in node.results}
    made = {own: its for own, its in given.made.items() if own in computed}
    small = {own: dtype for own, dtype in given.small.items() if own in here or own in computed}
    return replace(part, graph=graph, tensors=tensors, given=Given(graph, model, here, given.open, made, small))


def _require_known_ends(case: Case, part: Graph) -> None:
    """Raise `Invalid` where the model would be cut at a value that the graph holds in another dtype."""
    given = case.given
    assert given is not None
    ends = {item.value.name for item in case.graph.inputs} | set(case.graph.outputs)
    here = {item.value.name for item in part.inputs} | set(part.outputs)
    if within := sorted(here & given.small.keys() - ends):
        raise Invalid(f"the part would be cut at {within[0]}, which is {given.small[within[0]]} in the model")


def _require_part(whole: Graph, part: Graph) -> None:
    nodes = {node.results[0].name: node for node in whole.nodes}
    inputs = {item.value.name: item for item in whole.inputs}
    if any(nodes.get(node.results[0].name) != node for node in part.nodes):
        raise Invalid("the part has calls that the case has not")
    if any(inputs.get(item.value.name, item) != item for item in part.inputs):
        raise Invalid("the part has inputs that are not those of the case")
