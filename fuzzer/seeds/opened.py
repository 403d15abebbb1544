"""Cases whose sizes are open where the file of the model leaves them open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.seeds.cut import Piece
from fuzzer.seeds.resolved import Resolved
from generators.check import check, retyped
from generators.graph import Case, Expr, Form, Input, Invalid, Node, Role, Symbol, TensorType
from generators.retype import retyped_case
from generators.symbolic import ExpressionError, Size
from generators.table import TABLE

Names = Mapping[str, Sequence[str]]
"""For values, the name of each open size, and "" for each size that is a number."""

MOST_TRIED = 8
"""How many sizes are tried one by one where not all of them can be open."""

MORE = (1, 2)
"""By how much sizes are larger at which a case with open sizes must be valid too. Some models take even sizes alone."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A case in which sizes are open.

    case    has numbers in place of all sizes that cannot be open
    open    the names of its open sizes
    closed  the names of the others
    why     why not all of them are open; "" where they are
    """

    case: Case
    open: tuple[str, ...]
    closed: tuple[str, ...] = ()
    why: str = ""

    def sentence(self, left_open: LeftOpen) -> str:
        """What lanes do with the sizes that the file leaves open, for people."""
        of_lanes = f"each lane runs it with {left_open.number} in place of {left_open.them}"
        if not self.open:
            return f"{left_open}: {of_lanes}, lanes with open sizes too: {self.why}"
        alone = f", but {listed(self.closed)} cannot be open: {self.why}" if self.closed else ""
        return f"{left_open}: {of_lanes}, and lanes with open sizes compile it for every {listed(self.open)}{alone}"


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """The sizes that a file leaves open, by name, and the number that replaces each of them."""

    names: tuple[str, ...]
    number: int

    def __str__(self) -> str:
        return f"the file leaves {listed(self.names)} open"

    @property
    def them(self) -> str:
        return "it" if len(self.names) == 1 else "them"


def listed(names: Sequence[str]) -> str:
    """For example "N, H and W"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def left_open(resolved: Resolved) -> LeftOpen | None:
    """Return the sizes that the file of a model leaves open; None where there are none."""
    typed = {name: resolved.types[name].sizes for name in resolved.open if name in resolved.types}
    numbers = {size for name, sizes in typed.items() for at, size in enumerate(sizes) if resolved.open[name][at]}
    return LeftOpen(_names({name: resolved.open[name] for name in typed}), min(numbers)) if numbers else None


def opened_as_in_file(case: Case, piece: Piece, resolved: Resolved, names: Names) -> Opened | None:
    """Return the case of a piece of a model with the sizes open that are open in the model. None where there are none.

    names  by the names of the file, as `names_in` returns them
    """
    free = [item.value.name for item in piece.graph.inputs if item.role is Role.INPUT]
    here = {own: names[piece.origins[own]] for own in free if any(names.get(piece.origins[own], ()))}
    if not here:
        return None
    for node in piece.graph.nodes:
        if TABLE[node.op].unlisted:
            return Opened(case, (), _names(here), _UNLISTED.format(node.title))
        if piece.made[node.results[0].name] in resolved.from_open:
            return Opened(case, (), _names(here), _FROM_OPEN.format(node.title))
    return opened(case, here)


_UNLISTED = "{} has no row, and its types are those of one run"
_FROM_OPEN = "what {} takes is computed from open sizes, and a case has numbers in its place"


def names_in(resolved: Resolved) -> Names:
    """The open sizes of the values of a model, by the names that the file has for values and for sizes. Where a size is
    computed from open sizes, its name is the formula; one without a formula is a number."""
    symbols = {name: f"n{place}" for place, name in enumerate(_names(resolved.open))}
    shown = {symbol: name for name, symbol in symbols.items()}
    types = dict(resolved.types)
    for value, names in resolved.open.items():
        if value in types:
            type = types[value]
            pairs = zip(names, type.sizes, strict=True)
            types[value] = type.with_shape(*(Size.symbol(symbols[n], size) if n else size for n, size in pairs))
    for node in resolved.nodes if resolved.open else ():
        types |= _results(node, types, resolved)
    formulas = {value: [_formula(size) for size in type.sizes] for value, type in types.items()}
    return {value: [shown.get(each, each) for each in some] for value, some in formulas.items() if any(some)}


def _names(names: Names) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names.values() for name in each if name))


def _results(node: Node, types: Mapping[str, TensorType], resolved: Resolved) -> dict[str, TensorType]:
    """The results with the formulas of their sizes, where these follow from those of the operands."""
    plain = {value.name: value.type for value in node.results}
    if node.results[0].name in resolved.from_open:
        return plain
    try:
        inferred = TABLE[node.op].results(tuple(types[name] for name in node.args), node.attrs)
    except (Invalid, ExpressionError):
        return plain
    return dict(zip(plain, inferred, strict=True))


def _formula(size: int) -> str:
    return str(size.expr) if isinstance(size, Size) and size.expr.symbols else ""


def opened(case: Case, names: Names) -> Opened:
    """Return a case with as many of the named sizes of its inputs open as can be. Sizes of one name are one size."""
    found = _names(names)
    try:
        return Opened(_with_open(case, names, found), found)
    except Invalid as error:
        why = str(error)
    kept: tuple[str, ...] = ()
    best = case
    for name in found[:MOST_TRIED] if len(found) > 1 else ():
        try:
            best = _with_open(case, names, (*kept, name))
        except Invalid:
            continue
        kept = (*kept, name)
    return Opened(best, kept, tuple(name for name in found if name not in kept), why)


def with_smaller_sizes(case: Case) -> Case | None:
    """Return a case with open sizes that also runs where each of them is smaller by one. None where it is not valid
    there."""
    smaller = replace(case, also=({name: size - 1 for name, size in case.sizes.items()},))
    try:
        check(smaller)
    except Invalid:
        return None
    return smaller


def _with_open(case: Case, names: Names, wanted: Collection[str]) -> Case:
    """Return the case with these sizes open. Raise `Invalid` where it is not valid for other numbers too."""
    symbols = {name: f"n{place}" for place, name in enumerate(wanted)}
    sizes: dict[str, int] = {}

    def open_input(item: Input) -> Input:
        type, axes = item.value.type, names.get(item.value.name, ())
        shape: list[int | Expr] = list(type.sizes)
        for axis, name in enumerate(axes):
            if name in symbols:
                if sizes.setdefault(symbols[name], type.sizes[axis]) != type.sizes[axis]:
                    raise Invalid(f"the size {name} has several numbers")
                shape[axis] = Expr.symbol(symbols[name])
        return replace(item, value=replace(item.value, type=type.with_shape(*shape)))

    inputs = tuple(map(open_input, case.graph.inputs))
    plain = (replace(node, form=Form.PLAIN) if node.form is Form.COMPUTED else node for node in case.graph.nodes)
    graph = replace(
        case.graph,
        inputs=inputs,
        nodes=tuple(plain),
        symbols=tuple(Symbol(name, 1, size) for name, size in sizes.items()),
    )
    try:
        changed = retyped_case(replace(case, graph=graph, sizes=sizes))
    except ExpressionError as error:
        raise Invalid(str(error)) from None
    check(changed)
    _require_other_sizes(changed)
    return changed


def _require_other_sizes(case: Case) -> None:
    """Raise `Invalid` unless the formulas of the case hold for larger sizes too."""
    for more in MORE:
        bound = case.graph.bind({name: size + more for name, size in case.sizes.items()})
        try:
            right = retyped(bound)
        except Invalid as error:
            why = str(error)
            continue
        wrong = next((node for node, other in zip(bound.nodes, right.nodes, strict=True) if node != other), None)
        if wrong is None:
            return
        why = f"the type of {wrong.title} has no formula"
    raise Invalid(why)
