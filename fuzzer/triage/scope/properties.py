"""What can be said about a case: the dtype, rank and sizes of each operand, each attribute, the numbers of the inputs.

A statement of scope is made of these properties, so each of them has a name that a reader understands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from fuzzer.triage.scope.statement import Property
from generators.graph import Array, Attr, Case, Input, Node, Scalar, TensorType, holds_floats
from generators.table import dialect_of

MOST_SIZES = 5
"""Sizes of more dimensions are not looked at one by one."""


def properties(case: Case, *, with_numbers: bool = True) -> dict[Property, Scalar]:
    """Return all properties of a case; without `with_numbers`, all but those of the numbers of inputs. Sizes that are
    symbols count as they are bound."""
    graph = case.bound
    types, inputs = graph.types, {item.value.name: item for item in graph.inputs}
    found: dict[Property, Scalar] = {}
    for index, node in enumerate(graph.nodes):
        for (subject, what), value in _of_call(node, types, inputs, case.tensors if with_numbers else {}):
            found[Property(index, subject, what)] = value
    return found


def _of_call(
    node: Node, types: Mapping[str, TensorType], inputs: Mapping[str, Input], tensors: Mapping[str, Array]
) -> Iterator[tuple[tuple[str, str], Scalar]]:
    yield ("call", "form"), str(node.form)
    yield ("call", "operands"), len(node.args)
    operands = [types[name] for name in node.args]
    for place, (name, type) in enumerate(zip(node.args, operands, strict=True)):
        subject = f"operand {place}"
        for what, value in _of_type(type):
            yield (subject, what), value
        if name in inputs:
            yield (subject, "constant"), inputs[name].role.is_owned
            yield (subject, "layout"), str(inputs[name].layout)
        if name in tensors:
            for what, value in _of_numbers(tensors[name]):
                yield (subject, what), value
    for (one, first), (other, second) in combinations(enumerate(operands), 2):
        subject = f"operands {one} and {other}"
        yield (subject, "same dtype"), first.dtype is second.dtype
        yield (subject, "same rank"), first.rank == second.rank
        yield (subject, "same shape"), first.shape == second.shape
    for place, result in enumerate(node.results):
        subject = f"result {place}"
        yield (subject, "dtype"), result.type.dtype.value
        yield (subject, "rank"), result.type.rank
        yield (subject, "elements"), result.type.numel
        if operands:
            yield (subject, "dtype of operand 0"), result.type.dtype is operands[0].dtype
    rank = operands[0].rank if operands else 0
    parts = dialect_of(node.op).parts
    named = [each for attribute in parts.attributes for each in parts.named(node, attribute)]
    for name, is_given in named:
        yield (name, "given"), is_given
    for key, attribute in node.attrs.items():
        for what, part in _of_attribute(attribute, rank) if not (named and key in parts.attributes) else ():
            yield (key, what), part


def _of_type(type: TensorType) -> Iterator[tuple[str, Scalar]]:
    sizes = type.sizes
    yield "dtype", type.dtype.value
    yield "rank", type.rank
    yield "elements", type.numel
    for axis, size in enumerate(sizes[:MOST_SIZES]):
        yield f"size {axis}", size
    for back, size in enumerate(reversed(sizes[-MOST_SIZES:]), 1):
        yield f"size -{back}", size
    if sizes:
        yield "smallest size", min(sizes)
        yield "largest size", max(sizes)


def _of_numbers(array: Array) -> Iterator[tuple[str, Scalar]]:
    numbers = array.astype(np.float64) if holds_floats(array) else array
    with np.errstate(invalid="ignore"):
        yield "negative numbers", _how_many(numbers < 0)
        yield "zeros", _how_many(numbers == 0)
    if holds_floats(array):
        yield "NaN", _how_many(np.isnan(numbers))
        yield "infinities", _how_many(np.isinf(numbers))
        yield "fractions", _how_many(np.isfinite(numbers) & (numbers != np.round(numbers)))


def _how_many(chosen: Array) -> str:
    """ "none", "some" or "all" of the elements; "none" of no elements."""
    count = int(np.count_nonzero(chosen))
    return "none" if not count else "all" if count == chosen.size else "some"


def _of_attribute(value: Attr, rank: int) -> Iterator[tuple[str, Scalar]]:
    match value:
        case tuple():
            yield "length", len(value)
            yield "length beyond the rank", len(value) - rank
            yield "different items", len(set(value)) > 1
            yield "an item is None", None in value
            for place, item in enumerate(value[:MOST_SIZES]):
                yield f"item {place}", item
            numbers = _numbers(value)
            if numbers:
                yield "smallest item", min(numbers)
                yield "largest item", max(numbers)
        case bool() | None | str():
            yield "value", value
        case int():
            yield "value", value
            if -rank <= value < rank:
                yield "from the end", value - rank if value >= 0 else value
        case float():
            yield "value", value


def _numbers(items: Sequence[Scalar]) -> list[int | float]:
    return [item for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
