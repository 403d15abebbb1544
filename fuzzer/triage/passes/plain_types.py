"""float32 and int64 instead of other dtypes: what a bug does not need must not tell two findings of it apart.

A number that float32 does not hold may leave its domain (1e-300 becomes 0): such an input stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fuzzer.triage.passes.base import Subject
from generators.graph import Array, DType, Graph, Input
from generators.values import holds

PLAIN = (DType.FLOAT32, DType.INT64, DType.BOOL)


def plain_types(subject: Subject) -> Iterator[Subject]:
    """All odd inputs at once, then those of each dtype (operators tie them together), then one at a time."""
    odd = [item for item in subject.graph.inputs if item.value.type.dtype not in PLAIN]
    groups = [[item.value.name for item in odd]]
    groups += [[i.value.name for i in odd if i.value.type.dtype is dtype] for dtype in DType]
    groups += [[item.value.name] for item in odd]
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
    """How many inputs have a dtype that is not plain."""
    return sum(item.value.type.dtype not in PLAIN for item in graph.inputs)
