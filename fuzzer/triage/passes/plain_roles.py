"""Inputs of the model in place of parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Graph, Role


def plain_roles(subject: Subject) -> Iterator[Subject]:
    """All at once, then one at a time."""
    inputs = subject.graph.inputs
    names_owned = [item.value.name for item in inputs if item.role.is_owned]
    for names in dict.fromkeys((tuple(names_owned), *((name,) for name in names_owned))):
        given = (replace(item, role=Role.INPUT) if item.value.name in names else item for item in inputs)
        if names:
            yield subject.with_graph(replace(subject.graph, inputs=tuple(given)))


def owned_inputs(graph: Graph) -> int:
    """How many inputs belong to the model."""
    return sum(item.role.is_owned for item in graph.inputs)
