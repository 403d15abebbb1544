"""Hypothesis strategies for cases, graphs and tensors. They are for this project's tests, and for those of any program
that accepts PyTorch models.

Hypothesis makes every choice of the generators, so a failing example shrinks to fewer calls, smaller shapes, and zeros
where numbers do not matter.

    from generators.torch.strategies import cases
    from generators.torch.source import render

    @given(cases(Limits(max_nodes=3)))
    def test_my_compiler(case):
        source = render(case.bound)      # class Model(torch.nn.Module)
        case.owned, case.inputs          # numpy arrays: the arguments of its constructor and of its forward
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
from generators.op import Op
from generators.random_graph import grow
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from generators.trim import keep_nodes
from generators.values import draw as draw_values
from generators.values import plain

SMALL = Limits(max_nodes=4, max_numel=256)
SINGLE_ELEMENTS = 32
"""How many elements of a tensor are drawn one by one."""


PROFILE_FLOATS: dict[Profile, tuple[float, ...]] = {
    Profile.EDGE: (0.5, -1.5, 2.5, 512.0, 513.0, 2.0**-130, -(2.0**-27)),
    Profile.SPECIAL: (math.nan, math.inf, -math.inf, -0.0),
}


class HypothesisSource(ChoiceSource):
    """Choices drawn by Hypothesis, so that a failing case shrinks."""

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
    """Cases of `ops`. If `profile` or `symbolic` (whether the graph has symbols) is None, it is drawn."""
    source = HypothesisSource(draw)
    try:
        case = generate(source, replace(limits, to_show=False), ops, "", profile, symbolic)
    except Invalid:  # no operator fits the choices
        assume(False)
        raise
    kept, is_plain = _draw_kept(draw, case.graph), _draw_is_plain(draw, case.graph)
    smaller = replace(case, graph=keep_nodes(case.graph, kept))
    numbers = {i.value.name: _numbers(draw, i, case.profile, is_plain[i.value.name]) for i in smaller.bound.inputs}
    return replace(smaller, tensors=numbers)


def _draw_kept(draw: st.DrawFn, graph: Graph) -> set[int]:
    """Draw the numbers of the nodes that stay. Most stay, but Hypothesis removes those that a failure does not need."""
    return {index for index in range(len(graph.nodes)) if draw(st.integers(0, 15))}


def _draw_is_plain(draw: st.DrawFn, graph: Graph) -> dict[str, bool]:
    """Draw whether each value holds plain numbers if it is an input.

    It is drawn for all values, because removing a node can turn its results into inputs. While Hypothesis shrinks, the
    removal of a node must not need more choices than the example has.
    """
    return {value.name: not draw(st.booleans()) for value in graph.values()}


@st.composite
def graphs(draw: st.DrawFn, limits: Limits = SMALL, ops: Sequence[Op] = OPS) -> Graph:
    """Graphs of `ops` without symbols."""
    builder = Builder(HypothesisSource(draw), limits)
    grow(builder, limits.max_nodes, ops, at_least=1)
    assume(builder.nodes)
    graph = builder.graph()
    return keep_nodes(graph, _draw_kept(draw, graph))


@st.composite
def tensors(draw: st.DrawFn, type: TensorType, profile: Profile = Profile.NORMAL) -> Array:
    """Arrays of a type, with numbers of a profile."""
    return _numbers(draw, Input(Value("x0", type)), profile, not draw(st.booleans()))


def _numbers(draw: st.DrawFn, item: Input, profile: Profile, is_plain: bool) -> Array:
    """Draw the array of an input.

    Hypothesis draws the first elements one by one, and numpy the others. A large tensor has as many elements drawn by
    Hypothesis as a small one, because Hypothesis considers an example with fewer choices simpler.
    """
    type = item.value.type
    if is_plain:
        return plain(item)
    if item.domain.bounds is Bounds.DISTINCT:
        return draw_values(HypothesisSource(draw), item, profile)
    sizes = (min(1, type.sizes[0]), *type.sizes[1:]) if item.layout is Layout.EXPANDED else type.sizes
    array = np.zeros(sizes, type.dtype.numpy)
    if array.size > SINGLE_ELEMENTS:
        part = Input(Value("x0", type.with_shape(*sizes)), item.role, item.domain)
        array = draw_values(HypothesisSource(draw), part, profile)
    count = min(array.size, SINGLE_ELEMENTS)
    array.reshape(-1)[:count] = draw(st.tuples(*[_elements(type.dtype, item.domain, profile)] * count))
    return np.array(np.broadcast_to(array, type.sizes))


def _elements(dtype: DType, domain: Domain, profile: Profile) -> st.SearchStrategy[int | float]:
    """Numbers of a domain: small whole numbers first, then fractions, then the special numbers of the profile."""
    if dtype is DType.BOOL:
        return st.just(True) if domain in (POSITIVE, NONZERO) else st.integers(max(domain.low, 0), domain.high or 1)
    low, high = (domain.low, domain.high) if domain.bounds is Bounds.WITHIN else (-9, 9)
    if domain == POSITIVE or not dtype.is_float:
        low = max(low, 1 if domain == POSITIVE else dtype.range[0])
    options: list[st.SearchStrategy[int | float]] = [st.integers(low, high)]
    if dtype.is_float and low < high:
        options.append(st.floats(low, high, width=32))
    if domain == ANY and dtype.is_float and profile in PROFILE_FLOATS:
        options.append(st.sampled_from(PROFILE_FLOATS[profile]))
    if domain == ANY and not dtype.is_float and profile is Profile.EXTREME:
        options.append(st.sampled_from([end + step for end, step in zip(dtype.range, (1, -1), strict=True)]))
        options.append(st.sampled_from(dtype.range))
    numbers = st.one_of(options)
    return numbers.map(lambda n: n if abs(n) >= 0.5 else 1) if domain == NONZERO else numbers


@st.composite
def calls(draw: st.DrawFn, op: Op, limits: Limits = Limits(max_numel=256)) -> Graph:
    """Graphs of one call of `op`, preceded only by the guards that the row needs."""
    builder = Builder(HypothesisSource(draw), limits)
    assume(builder.grow(op))
    return builder.graph()
