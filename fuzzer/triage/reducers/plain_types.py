"""Replace other dtypes by float32 and int64, so that findings of one bug do not differ in dtypes that it does not need.

An input stays as it is if a number would leave the input's domain in float32 (1e-300 becomes 0).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fuzzer.triage.reducers.base import Subject
from generators.graph import Array, DType, Graph, Input
from generators.values import holds

PLAIN = (DType.FLOAT32, DType.INT64, DType.BOOL)


def plain_types(subject: Subject) -> Iterator[Subject]:
    """Propose plain dtypes for all inputs, for all of one dtype (operators may need equal dtypes), and for each one."""
    unusual = [item for item in subject.graph.inputs if item.value.type.dtype not in PLAIN]
    groups = [[item.value.name for item in unusual]]
    groups += [[i.value.name for i in unusual if i.value.type.dtype is dtype] for dtype in DType]
    groups += [[item.value.name] for item in unusual]
    for names in dict.fromkeys(tuple(group) for group in groups if group):
        inputs = tuple(_plain(item) if item.value.name in names else item for item in subject.graph.inputs)
        tensors = {item.value.name: _cast(subject.case.tensors[item.value.name], item) for item in inputs}
        if all(holds(tensors[item.value.name], item.domain) for item in inputs if item.value.name in names):
            yield subject.with_graph(replace(subject.graph, inputs=inputs), tensors)


def _cast(array: Array, item: Input) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(item.value.type.dtype.numpy)


def _plain(item: Input) -> Input:
    dtype = DType.FLOAT32 if item.value.type.dtype.is_float else DType.INT64
    return replace(item, value=replace(item.value, type=item.value.type.with_dtype(dtype)))


def unusual_dtypes(graph: Graph) -> int:
    """Return how many inputs have another dtype than float32, int64 and bool."""
    return sum(item.value.type.dtype not in PLAIN for item in graph.inputs)
