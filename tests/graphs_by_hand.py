"""Graphs and cases written down in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from generators.check import check, retyped
from generators.dialect_names import DEFAULT
from generators.graph import Array, Attrs, Case, DType, Form, Graph, Input, Layout, Node, Role, TensorType, Value
from generators.table import TABLE, dialect_of

ROLES = {"w": Role.PARAM, "b": Role.BUFFER}

Call = tuple[str, str, str] | tuple[str, str, str, Attrs]
"""Results, operator (`add`, or with its form `add:inplace`), operands (names parted by blanks), the attributes that are
not at their defaults."""


def graph_of(inputs: Mapping[str, str], calls: Sequence[Call], outputs: str, opset: int = 0) -> Graph:
    """Types of inputs may name a layout: `float32[2,3] strided`. The first call decides the
    dialect."""
    unknown = TensorType(DType.BOOL, ())
    nodes = []
    for results, called, args, *attrs in calls:
        values = tuple(Value(name, unknown) for name in results.split())
        op, _, form = called.partition(":")
        given = {**TABLE[op].defaults, **(attrs[0] if attrs else {})}
        nodes.append(Node(op, tuple(args.split()), given, values, Form(form or "plain")))
    items = []
    for name, text in inputs.items():
        type, _, layout = text.partition(" ")
        role, value = ROLES.get(name[0], Role.INPUT), Value(name, TensorType.parse(type))
        items.append(Input(value, role, layout=Layout(layout or "contiguous")))
    dialect = dialect_of(nodes[0].op).name if nodes else DEFAULT
    return retyped(Graph(tuple(items), tuple(nodes), tuple(outputs.split()), dialect, opset=opset))


def numbered(type: TensorType, first: int = 0) -> Array:
    """first, first + 1, ... in the type's shape."""
    return np.arange(first, first + type.numel).reshape(type.sizes).astype(type.dtype.numpy)


def filled(item: Input) -> Array:
    """`numbered`; where the layout lets all slices be one, they are."""
    array = numbered(item.value.type)
    return np.ascontiguousarray(np.broadcast_to(array[:1], array.shape)) if item.layout is Layout.EXPANDED else array


def case_of(
    inputs: Mapping[str, str],
    calls: Sequence[Call],
    outputs: str,
    array: Callable[[Input], Array] = filled,
    opset: int = 0,
) -> Case:
    """A case that `check` takes."""
    graph = graph_of(inputs, calls, outputs, opset)
    case = Case(graph, {item.value.name: array(item) for item in graph.inputs})
    check(case)
    return case
