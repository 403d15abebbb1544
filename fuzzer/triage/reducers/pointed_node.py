"""Keep only the node that the evidence points at. Its operands become inputs with the numbers that PyTorch computed."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.triage.reducers.base import Subject
from fuzzer.triage.reducers.keep_region import region


def pointed_node(subject: Subject) -> Iterator[Subject]:
    """Propose each suspect alone, most likely first."""
    nodes = subject.graph.nodes
    places = {value.name: place for place, node in enumerate(nodes) for value in node.results}
    for place in dict.fromkeys(places[name] for name in subject.suspects if name in places):
        if len(nodes) > 1 and (alone := region(subject, place, place + 1)) is not None:
            yield alone
