"""Draw the inputs of an imported case, in the domains in which all operators that read them are defined.

`fuzzer.seeds.<dialect>.domains` has the domain of each operand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuzzer.seeds.dialect import seeds_of
from generators.choice import ChoiceSource
from generators.domain import ANY, Bounds, Domain, within
from generators.graph import Array, Case, Graph, Input, TensorType
from generators.values import draw, holds


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
    types, seeds = graph.types, seeds_of(graph.dialect)
    needed: dict[str, Domain] = {}
    for node in reversed(graph.nodes):
        operands = tuple(types[name] for name in node.args)
        for place, name in enumerate(node.args):
            needs = seeds.needed(node, place, operands)
            if needs == ANY and seeds.copies(node, place):
                of_results = [needed[value.name] for value in node.results if value.name in needed]
                needs = of_results[0] if of_results else ANY
                if needs.bounds is Bounds.DISTINCT:
                    needs = within(needs.low, needs.high)
            needed[name] = _both(needed.get(name, ANY), needs)
    return [_fitting(needed.get(item.value.name, ANY), item.value.type) for item in graph.inputs]


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
