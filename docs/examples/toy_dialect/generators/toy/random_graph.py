"""The random generator of the toy, and a small network."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource, NumpySource
from generators.drawn_graph import DrawnGraph
from generators.graph import Case, DType, Invalid, Profile, TensorType
from generators.limits import Limits
from generators.op import Op
from generators.random_graph import drawn_by, grow, new_builder, with_values
from generators.toy.dialect import DIALECT
from generators.toy.rows import NEGATE, PLUS, TOTAL


def draw_graph(
    source: ChoiceSource,
    limits: Limits,
    ops: Sequence[Op],
    origin: str = "",
    *,
    profile: Profile | None = None,
    symbolic: bool | None = None,
    opset: int | None = None,
) -> DrawnGraph:
    builder = new_builder(source, limits, profile or Profile.NORMAL, symbolic, DIALECT.name)
    grow(builder, limits.max_nodes, ops, limits.min_nodes)
    if not builder.nodes:
        raise Invalid(f"none of {', '.join(op.name for op in ops)} fits a graph of {limits}")
    return drawn_by(builder, origin)


def network() -> Case:
    b = Builder(NumpySource(0), dialect=DIALECT.name)
    x = b.fresh_input(TensorType(DType.FLOAT32, (2, 3)))
    (x,) = b.emit(PLUS, (*b.emit(NEGATE, (x,), {}), b.param(DType.FLOAT32, 2, 3)), {})
    b.emit(TOTAL, (x,), {})
    return with_values(b, "warm-up")
