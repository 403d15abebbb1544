"""Draw the inputs of an imported case, in the domains in which all operators that read them are defined.

The domain of an operand is taken from the operand that its row makes for itself: a row makes a divisor nonzero and a
variance positive. Indices depend on sizes; their domains are in a table here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fuzzer.seeds import onnx_domains
from generators.builder import Builder
from generators.choice import ChoiceSource, NumpySource
from generators.domain import ANY, Bounds, Domain, common, distinct, within
from generators.graph import Array, Attrs, Case, Graph, Input, Invalid, Node, TensorType
from generators.op import Op, Types, int_of
from generators.table import TABLE, dialect_of
from generators.values import draw, holds

DRAWS = 12
MAX_BOUND = 10**9 - 1

_ELEMENTS_UNCHANGED = (
    *("clone", "contiguous", "detach", "identity", "to", "to_cpu", "type_as"),
    *("view", "view_as", "reshape", "reshape_as", "flatten", "ravel", "unflatten", "squeeze", "unsqueeze"),
    *("expand", "expand_as", "broadcast_to", "repeat", "tile", "cat", "stack"),
    *("permute", "transpose", "swapdims", "swapaxes", "t", "mT", "movedim", "moveaxis", "flip", "roll"),
    *("slice", "narrow", "select", "chunk", "split", "split_size", "unbind"),
)
"""Rows that copy elements and compute nothing: the domain that a result needs is the domain that the operand needs."""


def draw_case(source: ChoiceSource, graph: Graph, constants: Mapping[str, Array]) -> Case:
    """Make a case of the graph. `constants` are the model's own values of inputs, by name; the case gets their leading
    part where the shape is smaller."""
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
    """The domain of each input. It satisfies the operators that read the input, directly or through rows that only copy
    its elements."""
    types = graph.types
    needed: dict[str, Domain] = {}
    for node in reversed(graph.nodes):
        operands = tuple(types[name] for name in node.args)
        for place, name in enumerate(node.args):
            needs = _needed(node, place, operands)
            if needs == ANY and _copies(node, place):
                of_results = [needed[value.name] for value in node.results if value.name in needed]
                needs = of_results[0] if of_results else ANY
                if needs.bounds is Bounds.DISTINCT:
                    needs = within(needs.low, needs.high)
            needed[name] = _both(needed.get(name, ANY), needs)
    return [_fitting(needed.get(item.value.name, ANY), item.value.type) for item in graph.inputs]


def _copies(node: Node, place: int) -> bool:
    return node.op in _ELEMENTS_UNCHANGED if dialect_of(node.op) == "torch" else onnx_domains.copies(node, place)


def _both(one: Domain, other: Domain) -> Domain:
    """The intersection of two domains where a domain can express it; else the first."""
    ranges = (Bounds.WITHIN, Bounds.DISTINCT)
    if one.bounds in ranges and other.bounds in ranges:
        low, high = max(one.low, other.low), min(one.high, other.high)
        return replace(one, low=low, high=max(low, high))
    if one.bounds is Bounds.NONZERO and other.bounds is Bounds.POSITIVE:
        return other
    return other if one == ANY else one


def _fitting(domain: Domain, type: TensorType) -> Domain:
    """The domain, limited to what `check` accepts for an input of this type."""
    if domain.bounds is Bounds.DISTINCT and domain.axis >= type.rank:
        domain = within(domain.low, domain.high)
    if domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT) and not type.dtype.is_float:
        low, high = type.dtype.range
        low, high = max(domain.low, low), min(domain.high, high)
        return replace(domain, low=low, high=high) if low <= high else ANY
    return domain


def _needed(node: Node, place: int, types: Types) -> Domain:
    """The domain that a node needs for its operand number `place`."""
    if dialect_of(node.op) == "onnx":
        return onnx_domains.needed(node, place, types)
    index_domain = _INDEX_DOMAINS.get((node.op, place))
    if index_domain is not None and types[place].dtype.is_integer:
        return index_domain(types, node.attrs)
    if node.op in ("getitem", "setitem", "setitem_scalar", "setitem_update", "index_put") and place:
        values = node.op in ("setitem", "setitem_update", "index_put") and place == 1
        return ANY if values or not types[place].dtype.is_integer else _index(min(types[0].sizes, default=1))
    return _row_domain(node.op, place, types[place].dtype.is_float)


# --- indices

IndexDomain = Callable[[Types, Attrs], Domain]


def _index(size: int) -> Domain:
    return within(0, max(min(size, MAX_BOUND) - 1, 0))


def _along(types: Types, attrs: Attrs) -> Domain:
    sizes = types[0].sizes or (1,)
    return _index(sizes[int_of(attrs, "dim")])


def _once_along(types: Types, attrs: Attrs) -> Domain:
    """Distinct indices where possible: the result of writing twice to one element is not defined."""
    axis, sizes, index = int_of(attrs, "dim"), types[0].sizes or (1,), types[1].sizes or (1,)
    if index[axis] > sizes[axis]:
        return _along(types, attrs)
    return distinct(0, sizes[axis] - 1, axis % len(sizes)) if types[1].rank == len(sizes) else _once(types, attrs)


def _once(types: Types, attrs: Attrs) -> Domain:
    """Distinct positions along a dimension, given as a list."""
    size = (types[0].sizes or (1,))[int_of(attrs, "dim")]
    if types[1].rank != 1 or types[1].numel > size:
        return _along(types, attrs)
    return distinct(0, size - 1, 0)


def _classes(types: Types, attrs: Attrs) -> Domain:
    return _index(types[0].sizes[1 if types[0].rank > 1 else 0])


_INDEX_DOMAINS: Mapping[tuple[str, int], IndexDomain] = {
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


# --- the operands that a row makes


@functools.cache
def _row_domain(op: str, place: int, of_floats: bool) -> Domain:
    """The domain of operand number `place`: what all operands have in common that the row makes in `DRAWS` draws."""
    drawn = (_drawn(TABLE[op], place, of_floats, seed) for seed in range(DRAWS))
    return common([domain for domain in drawn if domain is not None])


def _drawn(op: Op, place: int, of_floats: bool, seed: int) -> Domain | None:
    """The domain of the operand in one draw; None where the draw has no such operand. A `clamp` in the graph counts as
    a range."""
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
