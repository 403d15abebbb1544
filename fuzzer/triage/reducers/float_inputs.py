"""Replace all dtypes by float32 in a case without floats: a bug that shows with floats, too, concerns more users.

It is apart from `plain_types`, whose steps are combined with others: most bugs of cases without floats need that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import DType, Graph
from generators.values import holds


def float_inputs(subject: Subject) -> Iterator[Subject]:
    """Propose float32 for all inputs, if none is a float and the numbers stay in the domains of their inputs."""
    if not has_no_float(subject.graph):
        return
    inputs = tuple(
        replace(item, value=replace(item.value, type=item.value.type.with_dtype(DType.FLOAT32)))
        for item in subject.graph.inputs
    )
    tensors = {name: array.astype(DType.FLOAT32.numpy) for name, array in subject.case.tensors.items()}
    if all(holds(tensors[item.value.name], item.domain) for item in inputs):
        yield subject.with_graph(replace(subject.graph, inputs=inputs), tensors)


def has_no_float(graph: Graph) -> bool:
    """Whether a graph has inputs, and none of them is a float."""
    return bool(graph.inputs) and not any(item.value.type.dtype.is_float for item in graph.inputs)
