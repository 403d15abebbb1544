"""Keep a single output, or drop one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject


def drop_outputs(subject: Subject) -> Iterator[Subject]:
    """Propose each output alone, and then the outputs without each one."""
    outputs = subject.graph.outputs
    if len(outputs) < 2:
        return
    for name in outputs:
        yield subject.with_graph(replace(subject.graph, outputs=(name,)))
    for index in range(len(outputs)):
        yield subject.with_graph(replace(subject.graph, outputs=outputs[:index] + outputs[index + 1 :]))
