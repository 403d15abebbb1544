"""The same generators as Hypothesis strategies, for property tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume
from hypothesis import strategies as st

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.graph import Case, Graph
from generators.ops import OPS, Op
from generators.random_graph import generate


class HypothesisSource(ChoiceSource):
    """Choices drawn by Hypothesis, so that a failing program shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


@st.composite
def cases(draw: st.DrawFn, limits: Limits = Limits(max_nodes=4, max_numel=256), ops: Sequence[Op] = OPS) -> Case:
    return generate(HypothesisSource(draw), limits, ops)


@st.composite
def calls(draw: st.DrawFn, op: Op, limits: Limits = Limits(max_numel=256)) -> Graph:
    """A graph that ends in one call of `op` (before it stand at most the guards that the row asks for)."""
    builder = Builder(HypothesisSource(draw), limits)
    assume(builder.grow(op))
    return builder.graph()
