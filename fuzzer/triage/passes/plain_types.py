"""float32 instead of float64: what a bug does not need must not tell two findings of it apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import DType, Input


def plain_types(subject: Subject) -> Iterator[Subject]:
    doubles = [item.value.name for item in subject.graph.inputs if item.value.type.dtype is DType.FLOAT64]
    groups = [doubles, *([name] for name in doubles)] if len(doubles) > 1 else [doubles] if doubles else []
    for names in groups:
        inputs = tuple(_single(item) if item.value.name in names else item for item in subject.graph.inputs)
        tensors = {n: a.astype("float32") if n in names else a for n, a in subject.case.tensors.items()}
        yield subject.with_graph(replace(subject.graph, inputs=inputs), tensors)


def _single(item: Input) -> Input:
    return replace(item, value=replace(item.value, type=item.value.type.with_dtype(DType.FLOAT32)))
