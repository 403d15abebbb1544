"""The random generator of PyTorch: it draws a valid case from a source of choices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.drawn_graph import DrawnGraph, cases_of
from generators.graph import Invalid, Profile
from generators.op import Op
from generators.random_graph import MOTIF_NODES, MOTIF_PERCENT, drawn_to_show, grow, new_builder, that_shows
from generators.torch.dialect import DIALECT
from generators.torch.motif_table import MOTIFS
from generators.torch.motifs import Motif
from generators.torch.ops import OPS
from generators.values import draw_profile, may_be_extreme

EXTREME_ATTEMPTS = 8
"""How many cases of the extreme profile are tried. About half of them have integers, which the profile needs."""


def draw_graph(
    source: ChoiceSource,
    limits: Limits = Limits(),
    ops: Sequence[Op] = OPS,
    origin: str = "",
    profile: Profile | None = None,
    symbolic: bool | None = None,
    motifs: Sequence[Motif] | None = None,
    motif_percent: int = MOTIF_PERCENT,
) -> DrawnGraph:
    """Draw a graph of `limits.min_nodes` to `limits.max_nodes` calls of `ops`. Guards of domains are added to these.

    profile   of its case; drawn if None. A case without an integer input gets the normal one instead of the extreme one
    symbolic  whether the graph has symbolic dimensions; drawn if None
    motifs    `motif_percent` % of graphs begin with one of these. None means all motifs if `ops` is the whole table,
              else none

    Raises `Invalid` where none of `ops` fits a graph of these limits.
    """
    profile = draw_profile(source) if profile is None else profile

    def grown(profile: Profile) -> Builder:
        return _grown(source, limits, ops, profile, symbolic, motifs, motif_percent)

    if profile is Profile.EXTREME:
        if drawn := that_shows(partial(grown, profile), origin, EXTREME_ATTEMPTS, may_be_extreme):
            return drawn
        profile = Profile.NORMAL
    return drawn_to_show(partial(grown, profile), limits, origin)


def draw(
    source: ChoiceSource,
    limits: Limits,
    ops: Sequence[Op],
    origin: str = "",
    *,
    profile: Profile | None = None,
    symbolic: bool | None = None,
    opset: int | None = None,
) -> DrawnGraph:
    """As `draw_graph`, with the arguments that all generators take. No graph of PyTorch has an opset."""
    return draw_graph(source, limits, ops, origin, profile, symbolic)


generate = cases_of(draw_graph)
"""Draws a case: its graph as `draw_graph` does, and then its values."""


def _grown(
    source: ChoiceSource,
    limits: Limits,
    ops: Sequence[Op],
    profile: Profile,
    symbolic: bool | None,
    motifs: Sequence[Motif] | None,
    motif_percent: int,
) -> Builder:
    builder = new_builder(source, limits, profile, symbolic, DIALECT.name)
    motifs = (MOTIFS if ops is OPS else ()) if motifs is None else motifs
    if motifs and limits.max_nodes >= MOTIF_NODES and source.rarely(motif_percent):
        source.choice(motifs).grow(builder)
    grow(builder, limits.max_nodes, ops, limits.min_nodes)
    if not builder.nodes:
        raise Invalid(f"none of {', '.join(op.name for op in ops)} fits a graph of {limits}")
    return builder
