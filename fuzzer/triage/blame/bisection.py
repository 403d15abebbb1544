"""Find the pass at fault by bisection: only the first n optional passes run, as with LLVM's `-opt-bisect-limit`.

Passes that change nothing when all passes run are not considered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.triage.blame.context import BlameContext
from oracles.trace import Trace, Tracing


@dataclass(frozen=True, slots=True)
class DecidingPass:
    """The pass that decides whether the program is right.

    place     index in `Trace.passes`
    before    how many optional passes run before it. With these alone the program is right
    optional  how many optional passes there are
    """

    name: str
    place: int
    before: int
    optional: int


def deciding_pass(context: BlameContext, whole: Trace) -> DecidingPass | None:
    """Return the pass at fault, or None.

    There is none if the program also fails without the optional passes, or if it then fails in another way.
    """
    places = [place for place, each in enumerate(whole.passes) if each.optional]
    changed = [number for number, place in enumerate(places) if whole.passes[place].changed]
    limits = [*changed, len(places)]
    if not changed or context.traced(Tracing(limit=limits[0])).fails:
        return None
    index = first_failing(limits, lambda limit: context.traced(Tracing(limit=limit)).fails)
    if not context.traced(Tracing(limit=limits[index - 1])).is_right:
        return None
    number = limits[index - 1]
    return DecidingPass(whole.passes[places[number]].name, places[number], number, len(places))


def first_failing(limits: Sequence[int], fails: Callable[[int], bool]) -> int:
    """Return the index of a limit that fails although the limit before it does not, in about log2(n) calls.

    The first limit must not fail, and the last one must fail.
    """
    low, high = 0, len(limits) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if fails(limits[middle]):
            high = middle
        else:
            low = middle
    return high


def programs(context: BlameContext, deciding: DecidingPass) -> tuple[str, str]:
    """Return TVMScript of the functions that the pass changed, before and after it."""
    trace = context.traced(Tracing(limit=deciding.before + 1, show=deciding.place)).trace
    return trace.before, trace.after
