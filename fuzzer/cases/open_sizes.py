"""Cases whose sizes stay open: what sizes they run at, and what they are exported at. Loads no compiler: reports say it
too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from generators.graph import Case, Expr


def why_not(case: Case) -> str | None:
    if not case.graph.symbols:
        return "no size of the case is symbolic"
    if any(isinstance(size, Expr) for i in case.graph.inputs if i.role.is_owned for size in i.value.type.shape):
        return "a parameter's size is symbolic"
    return None


def at_each_size(case: Case) -> list[Case]:
    """As `Case.instances`, but open: each of the case's bindings as the sizes of a case of its own, which keeps smaller
    ones beside it. The case itself where nothing is symbolic."""
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
    """Sizes to export at: not the case's own, if it can be, and never 1, which torch.export takes for a constant."""
    largest = {symbol.name: symbol.high for symbol in case.graph.symbols}
    candidates = [sizes for sizes in (*case.also, largest) if dict(sizes) != dict(case.sizes)]
    for sizes in (*candidates, case.sizes):
        if all(size > 1 for size in sizes.values()):
            return sizes
    return {name: max(size, 2) for name, size in largest.items()}


def linear(size: Expr) -> tuple[str, int, int] | None:
    """(n, a, b) where the size is a*n+b: a formula that torch.export can follow by the name of n."""
    name, factor, offset = "", 0, 0
    for atoms, times in size.terms:
        if not atoms:
            offset = times
        elif len(atoms) == 1 and atoms[0].inner is None and not name:
            name, factor = atoms[0].name, times
        else:
            return None
    return (name, factor, offset) if factor >= 1 else None
