"""The guilty pass. Of those that can be left out only the first so many run; the number is halved until one decides.

As LLVM's `-opt-bisect-limit`. Passes that changed nothing in the whole run are not asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.triage.blame.context import BlameContext
from oracles.trace import Trace, Tracing


@dataclass(frozen=True, slots=True)
class DecidingPass:
    """`place` in `Trace.passes`; with `before` optional passes in front of it the program is right."""

    name: str
    place: int
    before: int
    optional: int


def deciding_pass(asked: BlameContext, whole: Trace) -> DecidingPass | None:
    """None where no single pass can be told: it fails with all of them left out, or otherwise than it did."""
    places = [place for place, each in enumerate(whole.passes) if each.optional]
    changed = [number for number, place in enumerate(places) if whole.passes[place].changed]
    limits = [*changed, len(places)]
    if not changed or asked.traced(Tracing(limit=limits[0])).fails:
        return None
    index = first_failing(limits, lambda limit: asked.traced(Tracing(limit=limit)).fails)
    if not asked.traced(Tracing(limit=limits[index - 1])).is_right:
        return None
    number = limits[index - 1]
    return DecidingPass(whole.passes[places[number]].name, places[number], number, len(places))


def first_failing(limits: Sequence[int], fails: Callable[[int], bool]) -> int:
    """The index of one that fails and whose neighbour in front does not, in about log2(n) calls. The first is known
    not to fail, and the last to do so."""
    low, high = 0, len(limits) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if fails(limits[middle]):
            high = middle
        else:
            low = middle
    return high


def programs(asked: BlameContext, guilty: DecidingPass) -> tuple[str, str]:
    """TVMScript before and after it, of the functions that it changed."""
    trace = asked.traced(Tracing(limit=guilty.before + 1, show=guilty.place)).trace
    return trace.before, trace.after
