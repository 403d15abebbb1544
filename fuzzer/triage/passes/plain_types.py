"""float32 and int64 instead of other dtypes: what a bug does not need must not tell two findings of it apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import DType, Graph, Input

PLAIN = (DType.FLOAT32, DType.INT64, DType.BOOL)


def plain_types(subject: Subject) -> Iterator[Subject]:
    odd = [item.value.name for item in subject.graph.inputs if item.value.type.dtype not in PLAIN]
    groups = [odd, *([name] for name in odd)] if len(odd) > 1 else [odd] if odd else []
    for names in groups:
        inputs = tuple(_plain(item) if item.value.name in names else item for item in subject.graph.inputs)
        types = {item.value.name: item.value.type for item in inputs}
        tensors = {name: array.astype(types[name].dtype.numpy) for name, array in subject.case.tensors.items()}
        yield subject.with_graph(replace(subject.graph, inputs=inputs), tensors)


def _plain(item: Input) -> Input:
    dtype = DType.FLOAT32 if item.value.type.dtype.is_float else DType.INT64
    return replace(item, value=replace(item.value, type=item.value.type.with_dtype(dtype)))


def odd_types(graph: Graph) -> int:
    """How many inputs have a dtype that is not plain."""
    return sum(item.value.type.dtype not in PLAIN for item in graph.inputs)
