"""The same generators as Hypothesis strategies, for property tests: ours, and those of anyone who tests what takes
PyTorch graphs. A failing example shrinks, for each choice is Hypothesis's own.

    from generators.strategies import cases
    from generators.torch_source import render

    @given(cases(Limits(max_nodes=3)))
    def test_my_compiler(case):
        source = render(case.bound)      # class Model(torch.nn.Module)
        case.owned, case.inputs          # numpy arrays: for its constructor, for its forward
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.graph import Array, Case, Graph, Input, Invalid, Profile, TensorType, Value
from generators.ops import OPS, Op
from generators.random_graph import generate, grow
from generators.values import draw as draw_values

SMALL = Limits(max_nodes=4, max_numel=256)


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
    try:
        return generate(HypothesisSource(draw), limits, ops, "", profile, symbolic)
    except Invalid:  # what Hypothesis chose fits no operator
        assume(False)
        raise


@st.composite
def graphs(draw: st.DrawFn, limits: Limits = SMALL, ops: Sequence[Op] = OPS) -> Graph:
    """Graphs without values, and without symbolic dimensions."""
    builder = Builder(HypothesisSource(draw), limits)
    grow(builder, draw(st.integers(1, limits.max_nodes)), ops)
    assume(builder.nodes)
    return builder.graph()


@st.composite
def tensors(draw: st.DrawFn, type: TensorType, profile: Profile = Profile.NORMAL) -> Array:
    """Arrays of a type, with the values that cases hold."""
    return draw_values(HypothesisSource(draw), Input(Value("x0", type)), profile)


@st.composite
def calls(draw: st.DrawFn, op: Op, limits: Limits = Limits(max_numel=256)) -> Graph:
    """A graph that ends in one call of `op` (before it stand at most the guards that the row asks for)."""
    builder = Builder(HypothesisSource(draw), limits)
    assume(builder.grow(op))
    return builder.graph()
