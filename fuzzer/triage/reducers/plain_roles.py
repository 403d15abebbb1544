"""Turn parameters and buffers of the model into inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Graph, Role


def plain_roles(subject: Subject) -> Iterator[Subject]:
    """Propose inputs for all parameters and buffers, and then for one at a time."""
    inputs = subject.graph.inputs
    all_owned = [item.value.name for item in inputs if item.role.is_owned]
    for names in dict.fromkeys((tuple(all_owned), *((name,) for name in all_owned))):
        given = (replace(item, role=Role.INPUT) if item.value.name in names else item for item in inputs)
        if names:
            yield subject.with_graph(replace(subject.graph, inputs=tuple(given)))


def owned_inputs(graph: Graph) -> int:
    """Return how many inputs of the graph are parameters or buffers."""
    return sum(item.role.is_owned for item in graph.inputs)
