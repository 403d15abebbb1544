"""Infers all types of a changed case again, with or without symbolic sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from generators.check import retyped
from generators.formal import formal
from generators.graph import Case, Graph, TensorType
from generators.symbolic import Expr, Size


def retyped_case(case: Case) -> Case:
    """Return the case with the types that its operators infer, and only the symbols that these need. It is the case
    itself, with its given model, where it has these types.

    Raises `Invalid` where an operator refuses its operands. `check` decides whether the formulas hold for all sizes.
    """
    if not case.graph.symbols:
        fresh = retyped(case.graph)
        return case if fresh == case.graph else replace(case, graph=fresh)
    graph = formal(retyped(with_sizes(case.graph, case.sizes)), case.graph.symbols)
    used = {symbol.name for symbol in graph.symbols}
    sizes = _only(case.sizes, used)
    also: list[Mapping[str, int]] = []
    for other in (_only(other, used) for other in case.also):
        if other and other != sizes and other not in also:
            also.append(other)
    return replace(case, graph=graph, sizes=sizes, also=tuple(also))


def with_sizes(graph: Graph, sizes: Mapping[str, int], fixed: Mapping[str, int] | None = None) -> Graph:
    """Return the graph with input sizes that keep their formulas. The symbols in `fixed` become plain numbers."""
    numbers: dict[str, int] = {name: Size.symbol(name, size) for name, size in sizes.items()} | dict(fixed or {})

    def sized(type: TensorType) -> TensorType:
        return type.with_shape(*(dim.at(numbers) if isinstance(dim, Expr) else dim for dim in type.shape))

    items = (replace(item, value=replace(item.value, type=sized(item.value.type))) for item in graph.inputs)
    return replace(graph, inputs=tuple(items), symbols=())


def _only(sizes: Mapping[str, int], names: set[str]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name in names}
