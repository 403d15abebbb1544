"""Cases whose inputs have open sizes: symbols in place of numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from fuzzer.isolate.fleet import Runner
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.neighbours import is_valid
from fuzzer.triage.scope.statement import Answer, Variation
from generators.graph import Case, Expr, Input, Invalid, Symbol
from generators.retype import retyped_case
from oracles.finding import Finding
from oracles.lane import is_relax

Dimensions = Collection[tuple[str, int]]
"""Dimensions of inputs: the name of the input, and the axis."""

OPEN_SIZE_OF, MOST_AXES = "open size of ", 3
SMALLEST = 2
"""torch.export takes sizes of 0 and 1 for constants."""


def open_dimensions(case: Case) -> Dimensions:
    shapes = {item.value.name: item.value.type.shape for item in case.graph.inputs}
    return {(name, axis) for name, shape in shapes.items() for axis, size in enumerate(shape) if isinstance(size, Expr)}


def opened(case: Case, dimensions: Dimensions) -> Case | None:
    """Return a case without symbols with these dimensions open. Equal sizes get the same symbol. None where no such
    dimension has two elements or more, and where the calls are not valid for other sizes."""
    places = {(item.value.name, axis): n for item in case.graph.inputs for axis, n in enumerate(item.value.type.sizes)}
    sizes = sorted({places[each] for each in dimensions if places.get(each, 0) >= SMALLEST})
    symbols = {size: Symbol(f"n{place}", 1, size) for place, size in enumerate(sizes)}

    def open_input(item: Input) -> Input:
        name, type = item.value.name, item.value.type
        shape = [
            Expr.symbol(symbols[size].name) if (name, axis) in dimensions and size in symbols else size
            for axis, size in enumerate(type.sizes)
        ]
        return replace(item, value=replace(item.value, type=type.with_shape(*shape)))

    graph = replace(case.graph, inputs=tuple(map(open_input, case.graph.inputs)), symbols=tuple(symbols.values()))
    bound = {symbol.name: size for size, symbol in symbols.items()}
    smaller = {name: size - 1 for name, size in bound.items()}
    try:
        changed = retyped_case(replace(case, graph=graph, sizes=bound, also=(smaller,)))
    except Invalid:
        return None
    return changed if changed.graph.symbols and is_valid(changed) else None


def asker_of_opened(ask: Callable[[Case], Answer], dimensions: Dimensions) -> Callable[[Case], Answer]:
    """Return a function that asks about a case with these dimensions open."""

    def ask_opened(case: Case) -> Answer:
        changed = opened(case, dimensions)
        return ask(changed) if changed else Answer.INVALID

    return ask_opened


def open_rows(
    runner: Runner, fails: Sequence[Case], finding: Finding, has_time: Callable[[], bool]
) -> Iterator[Variation]:
    """Say what happens when TVM compiles a case for all sizes of one dimension of its first input, as long as there is
    time. The dimensions of other inputs with the same axis and size are open too. The case is the first of these, which
    fail, that can be open."""
    if not is_relax(finding.lane):
        return
    opened_cases = ((case, list(_with_an_open_axis(case))) for case in fails)
    case, changed = next((each for each in opened_cases if each[1]), (None, []))
    if case is None:
        return
    first = next(item.value for item in case.graph.inputs if not item.role.is_owned)
    what, of = OPEN_SIZE_OF + first.name, "" if case is fails[0] else f" of {first.type}"  # other rows: fails[0]
    fixed, open_ = (replace(finding.lane, symbolic=each) for each in (False, True))
    yield Variation(what, "none", answer_of(runner, finding, case, fixed))
    for axis, each in changed:
        if has_time():
            yield Variation(what, f"dimension {axis}{of}", answer_of(runner, finding, each, open_))


def _with_an_open_axis(case: Case) -> Iterator[tuple[int, Case]]:
    free = [item for item in case.graph.inputs if not item.role.is_owned]
    for axis, size in enumerate(free[0].value.type.sizes[:MOST_AXES] if free else ()):
        alike = {(each.value.name, axis) for each in free if each.value.type.sizes[axis : axis + 1] == (size,)}
        if changed := opened(case, alike):
            yield axis, changed
