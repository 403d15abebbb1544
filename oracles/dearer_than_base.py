"""A lane costs about what it costs in the base, where one build of TVM is compared with another.

Both compile the same program in the same lane, so what they do is not normalised by the number of kernels and passes:
more of them are a cost too. The bounds are those of the oracles that compare lanes of one build (`slow`, `bloat`).
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles import bloat, slow
from oracles.finding import BASE, Component, Excess, Finding, Kind, Quantity
from oracles.outcome import BaseCosts, Facts, Outcomes, Stage, facts_of


def dearer_than_base(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    """A lane that did not come to an end in the base, or has no such lane there, is not judged."""
    for lane, outcome in outcomes.items():
        own = facts_of(outcome)
        if own.base is None:
            continue
        for excess in _excesses(own, own.base):
            if excess.measured > excess.allowed:
                kind = Kind.SLOW if excess.quantity is Quantity.TIME else Kind.BLOAT
                yield Finding(kind, Component.TVM, lane, Stage.COMPILE, excess)
                break


def _excesses(own: Facts, base: BaseCosts) -> Iterator[Excess]:
    """A quantity that was not measured in the base is left out."""
    seconds = slow.TIMES_OTHERS * base.compile_seconds + slow.SECONDS
    constants = bloat.TIMES_WEIGHTS * base.constant_bytes + bloat.CONSTANT_BYTES
    library = bloat.TIMES_CODE * base.built_bytes + bloat.CODE_BYTES
    memory = bloat.TIMES_OTHERS * base.peak_bytes + bloat.MEMORY_BYTES
    yield Excess(Quantity.CONSTANTS, own.constant_bytes, constants, BASE)
    if base.built_bytes:
        yield Excess(Quantity.LIBRARY, own.built_bytes, library, BASE)
    if base.peak_bytes:
        yield Excess(Quantity.MEMORY, own.peak_bytes, memory, BASE)
    if base.compile_seconds:
        yield Excess(Quantity.TIME, round(own.compile_seconds, 2), round(seconds, 2), BASE)
