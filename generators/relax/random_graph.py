"""The random generator of Relax: it draws a valid case from a source of choices."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder, Limits
from generators.choice import ChoiceSource
from generators.drawn_graph import DrawnGraph, cases_of
from generators.graph import Invalid, Profile
from generators.op import Op
from generators.random_graph import drawn_to_show, grow, new_builder
from generators.relax.dialect import DIALECT
from generators.relax.ops import OPS

UNDRAWN = (Profile.EXTREME, Profile.SPECIAL)
"""Profiles that no case has: no document says what operators of Relax give for NaN, or where an integer overflows."""


def draw_graph(
    source: ChoiceSource,
    limits: Limits = Limits(),
    ops: Sequence[Op] = OPS,
    origin: str = "",
    *,
    profile: Profile | None = None,
    symbolic: bool | None = None,
    opset: int | None = None,
) -> DrawnGraph:
    """Draw a graph of `limits.min_nodes` to `limits.max_nodes` calls of `ops`. Guards of domains are added to these.

    profile   normal or, in one case of ten, edge, if None
    symbolic  whether the graph has symbolic dimensions; drawn if None

    Raises `Invalid` where none of `ops` fits a graph of these limits, and for the profiles of `UNDRAWN`.
    """
    if profile in UNDRAWN:
        raise Invalid(f"cases of {DIALECT.title} have no numbers of the profile {profile}")
    if profile is None:
        profile = Profile.EDGE if source.rarely(10) else Profile.NORMAL

    def grown() -> Builder:
        builder = new_builder(source, limits, profile, symbolic, DIALECT.name)
        grow(builder, limits.max_nodes, ops, limits.min_nodes)
        if not builder.nodes:
            raise Invalid(f"none of {', '.join(op.name for op in ops)} fits a graph of {limits}")
        return builder

    return drawn_to_show(grown, limits, origin)


generate = cases_of(draw_graph)
"""Draws a case: its graph as `draw_graph` does, and then its values."""
