"""Graphs by hand and as text, and the numbers that PyTorch computes for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuzzer.lanes import TVM_LANES
from fuzzer.lanes.base import build_model, to_torch
from fuzzer.triage.passes import Subject
from generators.check import check, retyped
from generators.graph import Array, Attrs, Case, Domain, DType, Graph, Input, Node, Role, TensorType, Value
from generators.torch_source import render

LANE = TVM_LANES[0]

Call = tuple[str, str, str] | tuple[str, str, str, Attrs]
"""Results, operator, operands (names parted by blanks), attributes."""


def graph_of(inputs: Mapping[str, str], calls: list[Call], outputs: str) -> Graph:
    unknown = TensorType(DType.BOOL, ())
    nodes = []
    for results, op, args, *attrs in calls:
        values = tuple(Value(name, unknown) for name in results.split())
        nodes.append(Node(op, tuple(args.split()), attrs[0] if attrs else {}, values))
    items = tuple(
        Input(Value(name, TensorType.parse(type)), Role.PARAM if name.startswith("w") else Role.INPUT)
        for name, type in inputs.items()
    )
    return retyped(Graph(items, tuple(nodes), tuple(outputs.split())))


def numbered(type: TensorType, first: int = 0) -> Array:
    """first, first + 1, ... in the type's shape."""
    return np.arange(first, first + type.numel).reshape(type.sizes).astype(type.dtype.numpy)


def subject_of(inputs: Mapping[str, str], calls: list[Call], outputs: str) -> Subject:
    """The inputs count from 0; what is tapped of the n-th computed value counts from 100 n: not what PyTorch gives."""
    graph = graph_of(inputs, calls, outputs)
    case = Case(graph, {item.value.name: numbered(item.value.type) for item in graph.inputs})
    check(case)
    computed = [value for node in graph.nodes for value in node.results]
    return Subject(case, LANE, {value.name: numbered(value.type, 100 * n) for n, value in enumerate(computed, 1)})


def text(subject: Subject) -> str:
    """`inputs | calls | outputs`."""
    graph = subject.graph
    inputs = " ".join(item.value.name for item in graph.inputs)
    calls = "; ".join(f"{','.join(v.name for v in n.results)}={n.op}({','.join(n.args)})" for n in graph.nodes)
    return f"{inputs} | {calls} | {' '.join(graph.outputs)}"


def shapes(subject: Subject) -> str:
    """The inputs' shapes, and attributes if there are any."""
    inputs = " ".join(str(list(item.value.type.sizes)) for item in subject.graph.inputs)
    attrs = " ".join(str(dict(node.attrs)) for node in subject.graph.nodes if node.attrs)
    return f"{inputs} {attrs}".strip()


def domains(subject: Subject) -> dict[str, Domain]:
    return {item.value.name: item.domain for item in subject.graph.inputs}


# --- in PyTorch


def evaluated(case: Case) -> tuple[Array, ...]:
    import torch

    torch.set_num_threads(1)
    model = build_model(render(case.bound), case.owned)
    with torch.no_grad():
        outputs = model(*(to_torch(array) for array in case.inputs.values()))
    return tuple(output.contiguous().numpy() for output in outputs)


def tap(case: Case) -> dict[str, Array]:
    """Every computed value."""
    names = tuple(value.name for node in case.graph.nodes for value in node.results)
    return dict(zip(names, evaluated(replace(case, graph=replace(case.graph, outputs=names))), strict=True))
