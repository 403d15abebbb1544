"""How far a case is from what people write. The smallest case that fails is often odd: `int64[1,1,1,1]`."""

from __future__ import annotations

import re
from itertools import starmap

from fuzzer.triage.reducers.plain_values import value_complexity
from fuzzer.triage.scope.statement import is_number
from generators.graph import Array, Attr, Case, DType, Form, Input, Layout, Node, TensorType
from generators.table import TABLE

LARGEST_USUAL_SIZE = 8
"""Larger tensors are hard to read in a report."""


def oddity(case: Case) -> int:
    """Return a sum over all inputs and calls. 0 is float32, usual ranks, sizes that differ, and defaults."""
    graph = case.graph
    inputs = sum(_of_input(item, case.tensors[item.value.name]) for item in graph.inputs)
    return inputs + _of_ranks(case) + sum(map(_of_call, graph.nodes)) + 3 * len(graph.symbols)


def _of_input(item: Input, array: Array) -> int:
    return (
        _of_dtype(item.value.type.dtype)
        + sum(map(_of_size, item.value.type.sizes))
        + _repeated(item.value.type)
        + _of_numbers(array)
        + 2 * (item.layout is not Layout.CONTIGUOUS)
    )


def _of_dtype(dtype: DType) -> int:
    return {DType.FLOAT32: 0, DType.INT64: 4, DType.BOOL: 5, DType.FLOAT64: 5}.get(dtype, 6)


def _of_size(size: int) -> int:
    return 6 if size == 0 else 2 if size == 1 else int(size > LARGEST_USUAL_SIZE)


def _repeated(type: TensorType) -> int:
    """How many sizes do not tell their dimension apart."""
    return type.rank - len(set(type.sizes))


def _of_numbers(array: Array) -> int:
    """Numbers that are all equal hide a permutation; those that follow no rule make a report long."""
    return 0 if array.size < 2 else (2, 0, 1, 2, 3, 4)[value_complexity(array)]


def usual_rank(node: Node) -> int | None:
    """The rank of an image, a volume or a sequence with its batch, where the operator's name says which it takes."""
    found = re.search(r"([123])d(?![a-z0-9])", node.title)
    return int(found[1]) + 2 if found else None


def _of_ranks(case: Case) -> int:
    """Only the first operand has a rank that a name says. Others depend on it."""
    types = case.graph.types
    return sum(
        starmap(_of_rank, ((types[node.args[0]].rank, usual_rank(node)) for node in case.graph.nodes if node.args))
    )


def _of_rank(rank: int, usual: int | None) -> int:
    if usual is not None:
        return 3 * abs(rank - usual)
    return {0: 8, 1: 2}.get(rank, 2 * max(0, rank - 4))


def _of_call(node: Node) -> int:
    defaults = TABLE[node.op].defaults
    attributes = sum(_of_attribute(value, defaults[key]) for key, value in node.attrs.items() if key in defaults)
    return attributes + (node.form is not Form.PLAIN)


def _of_attribute(value: Attr, default: Attr) -> int:
    """A factor of 0 makes a call pointless, and the sign and the fraction of a number seldom matter."""
    if value == default:
        return 0
    return 3 if is_number(value) and (value <= 0 or value % 1) else 2  # type: ignore[operator]
