"""The random generator: choices in, a checked case out."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import ChoiceSource
from generators.graph import Case, Graph, Invalid
from generators.ops import OPS, Op
from generators.values import draw

ATTEMPTS_PER_NODE = 30
CONNECTED_PERCENT = 85


def generate(source: ChoiceSource, limits: Limits = Limits(), ops: Sequence[Op] = OPS, origin: str = "") -> Case:
    """A case of 1 to `limits.max_nodes` calls of `ops` (guards that keep an operator in its domain come on top).

    Raises `Invalid` where none of `ops` can stand in a graph of these limits.
    """
    builder = Builder(source, limits)
    wanted = source.integer(1, limits.max_nodes)
    for _ in range(wanted * ATTEMPTS_PER_NODE):
        if len(builder.nodes) >= wanted:
            break
        builder.grow(source.choice(ops), connected=bool(builder.nodes) and source.chance(CONNECTED_PERCENT))
    if not builder.nodes:
        raise Invalid(f"none of {', '.join(op.name for op in ops)} fits a graph of {limits}")
    return with_values(source, builder.graph(), origin)


def with_values(source: ChoiceSource, graph: Graph, origin: str) -> Case:
    case = Case(graph, {item.value.name: draw(source, item) for item in graph.inputs}, {}, origin)
    check(case)
    return case
