"""The case of a piece of a model, with the numbers that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fuzzer.seeds.cut import Piece
from fuzzer.seeds.domains import draw_case
from generators.check import check
from generators.choice import NumpySource
from generators.domain import ANY, NONZERO, Bounds, Domain, within
from generators.graph import Array, Case, Graph, Invalid
from generators.values import holds


def case_with(piece: Piece, values: Mapping[str, Array], where: str, origin: str) -> Case:
    """The case of a piece. `values` are known numbers by the names of the file. Other inputs are drawn, the same ones
    each time. Raise `Invalid` where a known value has another type than the model needs."""
    known = {own: np.asarray(values[name], order="C") for own, name in piece.origins.items() if name in values}
    drawn = draw_case(NumpySource(0), piece.graph, {})
    types = piece.graph.types
    for own, array in known.items():
        wanted = types[own]
        if array.shape != wanted.sizes or array.dtype != wanted.dtype.numpy:
            raise Invalid(
                f"{where}: {piece.origins[own]} is {array.dtype}{list(array.shape)}, and the model needs {wanted}"
            )
    case = Case(_with_domains(drawn.graph, known), {**drawn.tensors, **known}, origin=origin)
    check(case)
    return case


def _with_domains(graph: Graph, known: Mapping[str, Array]) -> Graph:
    """The graph with as much of each domain as the known values hold: the model defines a result for the others too,
    or it is not compared (`generators.undefined`)."""
    inputs = [
        replace(item, domain=_held(item.domain, known[item.value.name])) if item.value.name in known else item
        for item in graph.inputs
    ]
    return replace(graph, inputs=tuple(inputs))


def _held(domain: Domain, values: Array) -> Domain:
    """The domain, or the widest part of its condition that the values hold."""
    weaker = {Bounds.DISTINCT: within(domain.low, domain.high), Bounds.POSITIVE: NONZERO}.get(domain.bounds, ANY)
    return next(each for each in (domain, weaker, ANY) if holds(values, each))
