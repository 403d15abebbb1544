"""The numbers of an imported case: what each input must be so that its readers are defined, and arrays of that kind.

Which numbers a row is defined for, the row says when it makes its own operands: a divisor is made nonzero, a variance
positive. Indices depend on sizes, and have a table here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from generators.builder import Builder
from generators.choice import ChoiceSource, NumpySource
from generators.domain import ANY, Bounds, Domain, distinct, within
from generators.graph import Array, Attrs, Case, Graph, Input, Invalid, Node, TensorType
from generators.ops import TABLE, Op
from generators.ops.base import Types, int_of
from generators.values import draw, holds

DRAWS = 12
MAX_BOUND = 10**9 - 1

_AS_THEY_ARE = (
    *("clone", "contiguous", "detach", "identity", "to", "to_cpu", "type_as"),
    *("view", "view_as", "reshape", "reshape_as", "flatten", "ravel", "unflatten", "squeeze", "unsqueeze"),
    *("expand", "expand_as", "broadcast_to", "repeat", "tile", "cat", "stack"),
    *("permute", "transpose", "swapdims", "swapaxes", "t", "mT", "movedim", "moveaxis", "flip", "roll"),
    *("slice", "narrow", "select", "chunk", "split", "split_size", "unbind"),
)
"""Rows whose results hold no other numbers than their operands: what their readers need, their operands need."""


def with_numbers(source: ChoiceSource, graph: Graph, constants: Mapping[str, Array]) -> Case:
    """A case of the graph. `constants` are numbers that the model has, by the input's name: their leading part."""
    inputs = tuple(replace(item, domain=domain) for item, domain in zip(graph.inputs, domains(graph), strict=True))
    graph = replace(graph, inputs=inputs)
    arrays = {item.value.name: _array(source, item, constants.get(item.value.name)) for item in inputs}
    return Case(graph, arrays)


def _array(source: ChoiceSource, item: Input, constant: Array | None) -> Array:
    type = item.value.type
    if constant is not None and constant.ndim == type.rank and constant.dtype == type.dtype.numpy:
        part = constant[tuple(map(slice, type.sizes))]
        if item.domain.bounds is Bounds.WITHIN and type.dtype.is_integer:
            part = np.clip(part, item.domain.low, item.domain.high)
        if part.shape == type.sizes and holds(part, item.domain):
            return np.ascontiguousarray(part).reshape(type.sizes)
    return draw(source, item)


def domains(graph: Graph) -> list[Domain]:
    """One for each input: what its readers want, directly or through rows that hand its numbers on."""
    types = graph.types
    wanted: dict[str, Domain] = {}
    for node in reversed(graph.nodes):
        operands = tuple(types[name] for name in node.args)
        for place, name in enumerate(node.args):
            needs = _needed(node, place, operands)
            if needs == ANY and node.op in _AS_THEY_ARE:
                passed = [wanted[value.name] for value in node.results if value.name in wanted]
                needs = passed[0] if passed else ANY
                if needs.bounds is Bounds.DISTINCT:
                    needs = within(needs.low, needs.high)
            wanted[name] = _both(wanted.get(name, ANY), needs)
    return [_fitting(wanted.get(item.value.name, ANY), item.value.type) for item in graph.inputs]


def _both(one: Domain, other: Domain) -> Domain:
    """What is in both, where that can be said; else in the first."""
    ranges = (Bounds.WITHIN, Bounds.DISTINCT)
    if one.bounds in ranges and other.bounds in ranges:
        low, high = max(one.low, other.low), min(one.high, other.high)
        return replace(one, low=low, high=max(low, high))
    if one.bounds is Bounds.NONZERO and other.bounds is Bounds.POSITIVE:
        return other
    return other if one == ANY else one


def _fitting(domain: Domain, type: TensorType) -> Domain:
    """Only what `check` holds an input of this type to."""
    if domain.bounds is Bounds.DISTINCT and domain.axis >= type.rank:
        domain = within(domain.low, domain.high)
    if domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT) and not type.dtype.is_float:
        low, high = type.dtype.range
        low, high = max(domain.low, low), min(domain.high, high)
        return replace(domain, low=low, high=high) if low <= high else ANY
    return domain


def _needed(node: Node, place: int, types: Types) -> Domain:
    position = _POSITIONS.get((node.op, place))
    if position is not None and types[place].dtype.is_integer:
        return position(types, node.attrs)
    if node.op in ("getitem", "setitem", "setitem_scalar", "setitem_update", "index_put") and place:
        values = node.op in ("setitem", "setitem_update", "index_put") and place == 1
        return ANY if values or not types[place].dtype.is_integer else _index(min(types[0].sizes, default=1))
    return _learned(node.op, place, types[place].dtype.is_float)


# --- indices

Position = Callable[[Types, Attrs], Domain]


def _index(size: int) -> Domain:
    return within(0, max(min(size, MAX_BOUND) - 1, 0))


def _along(types: Types, attrs: Attrs) -> Domain:
    sizes = types[0].sizes or (1,)
    return _index(sizes[int_of(attrs, "dim")])


def _once_along(types: Types, attrs: Attrs) -> Domain:
    """Writing twice to one place gives what nobody promises."""
    axis, sizes, index = int_of(attrs, "dim"), types[0].sizes or (1,), types[1].sizes or (1,)
    if index[axis] > sizes[axis]:
        return _along(types, attrs)
    return distinct(0, sizes[axis] - 1, axis % len(sizes)) if types[1].rank == len(sizes) else _once(types, attrs)


def _once(types: Types, attrs: Attrs) -> Domain:
    """A list of positions along a dimension."""
    size = (types[0].sizes or (1,))[int_of(attrs, "dim")]
    if types[1].rank != 1 or types[1].numel > size:
        return _along(types, attrs)
    return distinct(0, size - 1, 0)


def _classes(types: Types, attrs: Attrs) -> Domain:
    return _index(types[0].sizes[1 if types[0].rank > 1 else 0])


_POSITIONS: Mapping[tuple[str, int], Position] = {
    ("embedding", 0): lambda types, attrs: _index(types[1].sizes[0]),
    ("embedding_bag", 0): lambda types, attrs: _index(types[1].sizes[0]),
    ("gather", 1): _along,
    ("index_select", 1): _along,
    ("take", 1): lambda types, attrs: _index(types[0].numel),
    ("take_along_dim", 1): lambda types, attrs: _index(min(types[0].sizes, default=1)),
    ("one_hot", 0): lambda types, attrs: _index(int_of(attrs, "num_classes")),
    ("scatter", 1): _once_along,
    ("scatter_value", 1): _once_along,
    ("scatter_add", 1): _along,
    ("scatter_reduce", 1): _along,
    ("scatter_prod", 1): _along,
    ("index_add", 1): _along,
    ("index_copy", 1): _once,
    ("index_fill", 1): _along,
    ("index_fill_tensor", 1): _along,
    ("index_reduce", 1): _along,
    ("index_prod", 1): _along,
    ("cross_entropy", 1): _classes,
    ("nll_loss", 1): _classes,
}


# --- what a row makes for itself


@functools.cache
def _learned(op: str, place: int, of_floats: bool) -> Domain:
    """What every operand at this place is held to, of those that the row makes in some draws."""
    seen = [domain for seed in range(DRAWS) if (domain := _drawn(TABLE[op], place, of_floats, seed)) is not None]
    if not seen or ANY in seen:
        return ANY
    ranges = [domain for domain in seen if domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT)]
    if len(ranges) < len(seen):
        return next(domain for domain in seen if domain not in ranges)
    low, high = max(domain.low for domain in ranges), min(domain.high for domain in ranges)
    return within(low, high) if low <= high else ANY


def _drawn(op: Op, place: int, of_floats: bool, seed: int) -> Domain | None:
    """In one draw. None where that has no such operand."""
    builder = Builder(NumpySource(seed, place))
    try:
        operands = op.operands(builder)
    except Invalid:
        return None
    if operands is None or place >= len(operands) or operands[place].type.dtype.is_float != of_floats:
        return None
    name = operands[place].name
    for item in builder.inputs:
        if item.value.name == name:
            return item.domain
    node = next(node for node in builder.nodes if any(value.name == name for value in node.results))
    low, high = node.attrs.get("min"), node.attrs.get("max")
    if node.op != "clamp" or not isinstance(low, int | float) or not isinstance(high, int | float):
        return ANY
    first, last = math.ceil(low), min(math.floor(high), MAX_BOUND)
    return within(first, last) if first <= last else ANY
