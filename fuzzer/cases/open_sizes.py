"""Cases with symbolic sizes that stay open in the module: the sizes at which they run and at which they are exported.

This module loads no compiler, because reports use it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from generators.dialect import dialect_named
from generators.graph import Case, Expr, Graph
from oracles.lane import LaneSpec


def why_not(case: Case) -> str | None:
    """Why the sizes of the case cannot stay open; None where they can."""
    if case.given is not None:
        return None if case.given.open else "the model leaves no size open"
    if not case.graph.symbols:
        return "no size of the case is symbolic"
    if any(isinstance(size, Expr) for i in case.graph.inputs if i.role.is_owned for size in i.value.type.shape):
        return "a parameter's size is symbolic"
    if dialect_named(case.graph.dialect).module and (symbol := symbol_only_in_formulas(case.graph)):
        return f"no size of an input is {symbol} itself, which a module of Relax would have to compute"
    return None


def symbol_only_in_formulas(graph: Graph) -> str:
    """Return a symbol that occurs in sizes of inputs only inside formulas, or ""."""
    sizes = [size for item in graph.inputs for size in item.value.type.shape if isinstance(size, Expr)]
    hidden = {name for size in sizes for name in size.symbols} - {str(size) for size in sizes}
    return min(hidden, default="")


def lanes_of_given(case: Case, lanes: Sequence[LaneSpec]) -> tuple[LaneSpec, ...]:
    """The lanes. Where the given model of the case leaves sizes open, those that can compile it so do it."""
    if case.given is None or not case.given.open:
        return tuple(lanes)
    return tuple(map(opened, lanes))


def opened(lane: LaneSpec) -> LaneSpec:
    """The lane that leaves the open sizes of a given model open; the same one where none can."""
    if lane.symbolic or lane.given_sizes or not lane.importer.row.reads.may_be_open:
        return lane
    return replace(lane, name=f"{lane.name}-symbolic", symbolic=True)


def at_each_size(case: Case) -> list[Case]:
    """One case for each binding of the symbolic sizes, as `Case.instances`, but the sizes stay symbolic. Each case also
    keeps the bindings that are smaller in every size. Return the case itself where nothing is symbolic."""
    if not case.graph.symbols:
        return [case]
    bindings = [case.sizes, *case.also]
    return [
        replace(
            case,
            tensors=case.at(sizes).tensors,
            sizes=sizes,
            also=tuple(b for b in bindings if b != sizes and all(b[name] <= size for name, size in sizes.items())),
        )
        for sizes in bindings
    ]


def sample_sizes(case: Case) -> Mapping[str, int]:
    """Sizes for the export. They differ from the case's own where possible, and are never 1, which torch.export treats
    as a constant."""
    largest = {symbol.name: symbol.high for symbol in case.graph.symbols}
    candidates = [sizes for sizes in (*case.also, largest) if dict(sizes) != dict(case.sizes)]
    for sizes in (*candidates, case.sizes):
        if all(size > 1 for size in sizes.values()):
            return sizes
    return {name: max(size, 2) for name, size in largest.items()}


def linear(size: Expr) -> tuple[str, int, int] | None:
    """(n, a, b) where the size is a*n+b, which torch.export accepts as a dimension; None for other formulas."""
    name, factor, offset = "", 0, 0
    for atoms, times in size.terms:
        if not atoms:
            offset = times
        elif len(atoms) == 1 and atoms[0].inner is None and not name:
            name, factor = atoms[0].name, times
        else:
            return None
    return (name, factor, offset) if factor >= 1 else None
