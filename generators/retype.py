"""A case after a change to its graph: every type inferred afresh, whether sizes are open or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from generators.check import retyped
from generators.formal import formal
from generators.graph import Case, Graph, TensorType
from generators.symbolic import Expr, Size


def retyped_case(case: Case) -> Case:
    """The case with the types that its operators give, and no more symbols than these need. Raise `Invalid` where an
    operator refuses; whether the formulas of open sizes hold for all of the case's sizes is for `check` to say."""
    if not case.graph.symbols:
        return replace(case, graph=retyped(case.graph))
    graph = formal(retyped(given(case.graph, case.sizes)), case.graph.symbols)
    used = {symbol.name for symbol in graph.symbols}
    sizes = _of(case.sizes, used)
    also: list[Mapping[str, int]] = []
    for other in (_of(other, used) for other in case.also):
        if other and other != sizes and other not in also:
            also.append(other)
    return replace(case, graph=graph, sizes=sizes, also=tuple(also))


def given(graph: Graph, sizes: Mapping[str, int], closed: Mapping[str, int] | None = None) -> Graph:
    """The graph whose inputs have sizes that remember their formulas; those in `closed` are numbers from here on."""
    known: dict[str, int] = {name: Size.symbol(name, size) for name, size in sizes.items()} | dict(closed or {})

    def sized(type: TensorType) -> TensorType:
        return type.with_shape(*(dim.at(known) if isinstance(dim, Expr) else dim for dim in type.shape))

    items = (replace(item, value=replace(item.value, type=sized(item.value.type))) for item in graph.inputs)
    return replace(graph, inputs=tuple(items), symbols=())


def _of(sizes: Mapping[str, int], names: set[str]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name in names}
