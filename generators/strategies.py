"""The same generators as Hypothesis strategies, for property tests: ours, and those of anyone who tests what takes
PyTorch graphs. A failing example shrinks, for each choice is Hypothesis's own: fewer calls, smaller shapes, and zeros
in place of numbers that do not matter.

    from generators.strategies import cases
    from generators.torch_source import render

    @given(cases(Limits(max_nodes=3)))
    def test_my_compiler(case):
        source = render(case.bound)      # class Model(torch.nn.Module)
        case.owned, case.inputs          # numpy arrays: for its constructor, for its forward
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.domain import ANY, NONZERO, POSITIVE, Bounds, Domain
from generators.graph import Array, Case, DType, Graph, Input, Invalid, Layout, Profile, TensorType, Value
from generators.ops import OPS, Op
from generators.random_graph import generate, grow
from generators.trim import without
from generators.values import draw as draw_values
from generators.values import plain

SMALL = Limits(max_nodes=4, max_numel=256)
FEW = 32
"""So many elements of a tensor are drawn one by one."""


ODD_FLOATS: dict[Profile, tuple[float, ...]] = {
    Profile.EDGE: (0.5, -1.5, 2.5, 512.0, 513.0, 2.0**-130, -(2.0**-27)),
    Profile.SPECIAL: (math.nan, math.inf, -math.inf, -0.0),
}


class HypothesisSource(ChoiceSource):
    """Choices drawn by Hypothesis, so that a failing program shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self._draw(st.integers(0, 2**32 - 1)))


@st.composite
def cases(
    draw: st.DrawFn,
    limits: Limits = SMALL,
    ops: Sequence[Op] = OPS,
    profile: Profile | None = Profile.NORMAL,
    symbolic: bool | None = False,
) -> Case:
    """Graphs of `ops` with values. None for `profile` or `symbolic` lets them be drawn."""
    source = HypothesisSource(draw)
    try:
        case = generate(source, limits, ops, "", profile, symbolic)
    except Invalid:  # what Hypothesis chose fits no operator
        assume(False)
        raise
    kept, plain_ones = _kept(draw, case.graph), _plain_ones(draw, case.graph)
    smaller = replace(case, graph=without(case.graph, kept))
    numbers = {i.value.name: _numbers(draw, i, case.profile, plain_ones[i.value.name]) for i in smaller.bound.inputs}
    return replace(smaller, tensors=numbers)


def _kept(draw: st.DrawFn, graph: Graph) -> set[int]:
    """Which calls stay. Most do; where it is shrunk, those that matter do."""
    return {index for index in range(len(graph.nodes)) if draw(st.integers(0, 15))}


def _plain_ones(draw: st.DrawFn, graph: Graph) -> dict[str, bool]:
    """Which values hold plain numbers, should they be inputs: drawn for all, so that leaving a call out never takes
    more choices than before, which Hypothesis does not have."""
    return {value.name: not draw(st.booleans()) for value in graph.values()}


@st.composite
def graphs(draw: st.DrawFn, limits: Limits = SMALL, ops: Sequence[Op] = OPS) -> Graph:
    """Graphs without values, and without symbolic dimensions."""
    builder = Builder(HypothesisSource(draw), limits)
    grow(builder, limits.max_nodes, ops, at_least=1)
    assume(builder.nodes)
    graph = builder.graph()
    return without(graph, _kept(draw, graph))


@st.composite
def tensors(draw: st.DrawFn, type: TensorType, profile: Profile = Profile.NORMAL) -> Array:
    """Arrays of a type, with the values that cases hold."""
    return _numbers(draw, Input(Value("x0", type)), profile, not draw(st.booleans()))


def _numbers(draw: st.DrawFn, item: Input, profile: Profile, is_plain: bool) -> Array:
    """Larger tensors hold what campaigns draw, and as many numbers of Hypothesis's as small ones: else they would pass
    for simpler."""
    type = item.value.type
    if is_plain:
        return plain(item)
    if item.domain.bounds is Bounds.DISTINCT:
        return draw_values(HypothesisSource(draw), item, profile)
    sizes = (min(1, type.sizes[0]), *type.sizes[1:]) if item.layout is Layout.EXPANDED else type.sizes
    array = np.zeros(sizes, type.dtype.numpy)
    if array.size > FEW:
        part = Input(Value("x0", type.with_shape(*sizes)), item.role, item.domain)
        array = draw_values(HypothesisSource(draw), part, profile)
    few = min(array.size, FEW)
    array.reshape(-1)[:few] = draw(st.tuples(*[_elements(type.dtype, item.domain, profile)] * few))
    return np.array(np.broadcast_to(array, type.sizes))


def _elements(dtype: DType, domain: Domain, profile: Profile) -> st.SearchStrategy[int | float]:
    """Numbers of a domain: small whole ones first, then fractions, then what the profile is about."""
    if dtype is DType.BOOL:
        return st.just(True) if domain in (POSITIVE, NONZERO) else st.integers(max(domain.low, 0), domain.high or 1)
    low, high = (domain.low, domain.high) if domain.bounds is Bounds.WITHIN else (-9, 9)
    if domain == POSITIVE or not dtype.is_float:
        low = max(low, 1 if domain == POSITIVE else dtype.range[0])
    options: list[st.SearchStrategy[int | float]] = [st.integers(low, high)]
    if dtype.is_float and low < high:
        options.append(st.floats(low, high, width=32))
    if domain == ANY and dtype.is_float and profile in ODD_FLOATS:
        options.append(st.sampled_from(ODD_FLOATS[profile]))
    if domain == ANY and not dtype.is_float and profile is Profile.EXTREME:
        options.append(st.sampled_from([end + step for end, step in zip(dtype.range, (1, -1), strict=True)]))
        options.append(st.sampled_from(dtype.range))
    numbers = st.one_of(options)
    return numbers.map(lambda n: n if abs(n) >= 0.5 else 1) if domain == NONZERO else numbers


@st.composite
def calls(draw: st.DrawFn, op: Op, limits: Limits = Limits(max_numel=256)) -> Graph:
    """A graph that ends in one call of `op` (before it stand at most the guards that the row asks for)."""
    builder = Builder(HypothesisSource(draw), limits)
    assume(builder.grow(op))
    return builder.graph()
