"""What the random generators of all dialects share: calls are added to a builder, whose graph gets values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from generators.builder import Builder, Limits, OpenSizes
from generators.choice import ChoiceSource
from generators.drawn_graph import DrawnGraph
from generators.graph import Array, Case, Graph, Profile, Symbol
from generators.op import Op
from generators.values import draw
from generators.variety import shows_little, with_output_that_shows

ATTEMPTS_PER_NODE = 30
CONNECTED_PERCENT = 85
SYMBOLIC_PERCENT = 8
MOTIF_PERCENT = 20
MOTIF_NODES = 5
"""A graph gets a motif only if its limits allow at least this many nodes."""
SHOWING_ATTEMPTS = 5
"""How many graphs are drawn where one shows little: about a quarter of the graphs do."""
LARGEST = 7
"""The upper bound of the range of a symbol. The tensors have the upper end of the range as their size."""


def grow(builder: Builder, count: int, ops: Sequence[Op], at_least: int | None = None) -> None:
    """Add calls until the graph has `count` of them, or until too many attempts have failed.

    With `at_least`, the number of calls is drawn between `at_least` and `count`, all equally likely. It is drawn call
    by call, so that Hypothesis can end a graph after each call when it shrinks.
    """
    source, attempts = builder.source, count * ATTEMPTS_PER_NODE
    least = count if at_least is None else at_least
    while attempts and (left := count - len(builder.nodes)) > 0:
        if len(builder.nodes) >= least and not source.integer(0, left):
            return
        grown = False
        while attempts and not grown:
            attempts -= 1
            connected = source.chance(CONNECTED_PERCENT) and bool(builder.nodes)
            grown = builder.grow(source.choice(ops), connected=connected)


def new_builder(
    source: ChoiceSource,
    limits: Limits,
    profile: Profile,
    symbolic: bool | None,
    dialect: str,
    opset: int = 0,
) -> Builder:
    """Return a builder with symbols or without; with None, that is drawn."""
    if source.rarely(SYMBOLIC_PERCENT) if symbolic is None else symbolic:
        return symbolic_builder(source, limits, profile, dialect, opset)
    return Builder(source, limits, profile, dialect=dialect, opset=opset)


def symbolic_builder(source: ChoiceSource, limits: Limits, profile: Profile, dialect: str, opset: int = 0) -> Builder:
    """Return a builder with one or two symbols, bound to their largest size, to 1, and to up to two drawn sizes."""
    names = ("n", "m")[: source.integer(1, 2)]
    symbols = [Symbol(name, 1, source.integer(3, LARGEST)) for name in names]
    sizes = {symbol.name: symbol.high for symbol in symbols}
    between = [{s.name: source.integer(1, s.high) for s in symbols} for _ in range(source.integer(0, 2))]
    also = [{s.name: 1 for s in symbols}, *between]
    distinct = [b for i, b in enumerate(also) if b not in also[:i]]
    return Builder(source, limits, profile, OpenSizes(symbols, sizes, distinct), dialect, opset)


def with_values(builder: Builder, origin: str = "") -> Case:
    """Return the builder's graph as a case, with numbers drawn for its inputs."""
    return drawn_by(builder, origin).case()


def drawn_by(builder: Builder, origin: str = "") -> DrawnGraph:
    """Return the builder's graph, whose values are still to be drawn."""
    graph = builder.graph()
    return DrawnGraph(graph, lambda: _with_values(builder, graph, origin))


def drawn_to_show(grown: Callable[[], Builder], limits: Limits, origin: str = "") -> DrawnGraph:
    """Return a graph that `grown` draws, whose values are still to be drawn. It is the first of `SHOWING_ATTEMPTS` that
    shows much, perhaps with one more output; else the last one. Where `limits` do not ask for it, it is the first."""
    if not limits.to_show:
        return drawn_by(grown(), origin)
    drawn = that_shows(grown, origin, SHOWING_ATTEMPTS, lambda graph: True)
    assert drawn is not None, "every graph fits"
    return drawn


def that_shows(
    grown: Callable[[], Builder], origin: str, attempts: int, fits: Callable[[Graph], bool]
) -> DrawnGraph | None:
    """The first graph that fits and shows much; else the last one that fits. None where none does."""
    drawn = None
    for _ in range(attempts):
        builder = grown()
        graph = builder.graph()
        graph = with_output_that_shows(graph, graph.bind(builder.sizes))
        bound = graph.bind(builder.sizes)
        if fits(bound):
            drawn = DrawnGraph(graph, partial(_with_values, builder, graph, origin))
            if not shows_little(bound):
                break
    return drawn


def _with_values(builder: Builder, graph: Graph, origin: str) -> Case:
    used = {symbol.name for symbol in graph.symbols}
    sizes = {name: size for name, size in builder.sizes.items() if name in used}
    also = [{name: size for name, size in binding.items() if name in used} for binding in builder.also]
    bindings = [b for i, b in enumerate(also) if b and b != sizes and b not in also[:i]]
    tensors = _tensors(builder.source, graph.bind(sizes) if sizes else graph, builder.profile)
    return Case(graph, tensors, sizes, tuple(bindings), builder.profile, origin)


def _tensors(source: ChoiceSource, graph: Graph, profile: Profile) -> dict[str, Array]:
    rng = source.rng()
    return {item.value.name: draw(source, item, profile, rng) for item in graph.inputs}
