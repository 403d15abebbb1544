"""The random generator of ONNX: it draws a valid case of one opset from a source of choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.drawn_graph import DrawnGraph, cases_of
from generators.graph import Case, Input, Invalid, Profile, Role
from generators.onnx.dialect import DIALECT
from generators.onnx.motifs import MOTIFS
from generators.onnx.rows import OPS, rows_at
from generators.onnx.schema import OLDEST, newest_opset
from generators.op import Op
from generators.random_graph import MOTIF_NODES, MOTIF_PERCENT, drawn_to_show, grow, new_builder
from generators.renumber import renumbered
from generators.values import draw_profile

COMMON = (11, 13, 17, 18)
"""Opsets that most published models have. Half of the cases have one of them."""


CONSTANT_PERCENT = 8
"""This many graphs in a hundred have initializers where they would have inputs: an importer computes with constants."""


def draw_opset(source: ChoiceSource) -> int:
    return source.choice(COMMON) if source.chance(50) else source.integer(OLDEST, newest_opset())


def draw_graph(
    source: ChoiceSource,
    limits: Limits = Limits(),
    ops: Sequence[Op] | None = None,
    origin: str = "",
    profile: Profile | None = None,
    symbolic: bool | None = None,
    opset: int | None = None,
    motif_percent: int = MOTIF_PERCENT,
) -> DrawnGraph:
    """Draw a graph of `limits.min_nodes` to `limits.max_nodes` calls of the operators of `ops`; of all, if None.

    opset     drawn if None. Of `ops`, the rows that are in force at it are drawn
    profile   drawn if None. No case has integers at the ends of their range
    symbolic  whether the graph has symbolic dimensions; drawn if None
    motif_percent  this many graphs in a hundred begin with a motif, where all operators are drawn

    Raises `Invalid` where none of `ops` fits a graph of these limits, and for the extreme profile.
    """
    if profile is Profile.EXTREME:
        raise Invalid(f"cases of {DIALECT.title} have no numbers of the profile {profile}")
    opset = draw_opset(source) if opset is None else opset
    profile = draw_profile(source) if profile is None else profile
    profile = Profile.NORMAL if profile is Profile.EXTREME else profile
    rows: Sequence[Op] = rows_at(opset)
    if ops is not None and ops is not OPS:
        names = {row.name for row in ops}
        rows = [row for row in rows if row.name in names]
    percent = motif_percent if rows is rows_at(opset) and limits.max_nodes >= MOTIF_NODES else 0
    drawn = drawn_to_show(lambda: _grown(source, limits, rows, profile, symbolic, opset, percent), limits, origin)
    return drawn.then(lambda case: _sometimes_with_constants(case, source))


def _grown(
    source: ChoiceSource,
    limits: Limits,
    rows: Sequence[Op],
    profile: Profile,
    symbolic: bool | None,
    opset: int,
    motif_percent: int,
) -> Builder:
    builder = new_builder(source, limits, profile, symbolic, DIALECT.name, opset)
    if motif_percent and source.rarely(motif_percent):
        source.choice(MOTIFS).grow(builder)
    if rows:
        grow(builder, limits.max_nodes, rows, limits.min_nodes)
    if not builder.nodes:
        raise Invalid(f"none of the operators fits a graph of {limits} at opset {opset}")
    return builder


generate = cases_of(draw_graph)
"""Draws a case: its graph as `draw_graph` does, and then its values."""


def _sometimes_with_constants(case: Case, source: ChoiceSource) -> Case:
    """The case. In `CONSTANT_PERCENT` %, all its inputs become initializers, or about half of them. Inputs with open
    sizes stay inputs."""
    if not source.rarely(CONSTANT_PERCENT):
        return case
    percent = source.choice((50, 100))

    def becomes_constant(item: Input) -> bool:
        return item.role is Role.INPUT and not item.value.type.symbols and source.chance(percent)

    inputs = tuple(replace(item, role=Role.PARAM) if becomes_constant(item) else item for item in case.graph.inputs)
    return renumbered(replace(case, graph=replace(case.graph, inputs=inputs)))
