"""The first build in which a finding fails, by bisection. Some builds cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzzer.signature.blame import ReleaseVerdict

Try = Callable[[int], ReleaseVerdict]
"""Runs the finding in the build with this place in the order. `OTHERWISE` and `NOT_RUN` cannot tell."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """What a bisection found, by the places of builds.

    suspects  the builds of which one introduced the failure: one where all between could tell; none where `why_not`
    verdicts  what each build that was tried does
    why_not   why there is no answer; "" where there is one
    """

    suspects: range
    verdicts: dict[int, ReleaseVerdict]
    why_not: str = ""


def first_failing(count: int, run: Try) -> Bisection:
    """Find the build from which on a finding fails, of `count` builds in their order. The last one must fail and the
    first one pass. Between them the failure is taken to begin once."""
    verdicts: dict[int, ReleaseVerdict] = {}

    def fails(place: int) -> bool | None:
        verdicts[place] = verdict = verdicts.get(place) or run(place)
        return {ReleaseVerdict.FAILS: True, ReleaseVerdict.PASSES: False}.get(verdict)

    def none(why: str) -> Bisection:
        return Bisection(range(0), verdicts, why)

    if not count:
        return none("there are no builds")
    if not fails(count - 1):
        return none("the last build does not show it")
    if (fails_in_first := fails(0)) is not False:
        return none("the first build shows it already" if fails_in_first else "the first build cannot tell")
    passing, failing = 0, count - 1
    while True:
        untried = sorted(set(range(passing + 1, failing)) - verdicts.keys())
        if not untried:
            return Bisection(range(passing + 1, failing + 1), verdicts)
        middle = (passing + failing) / 2
        place = min(untried, key=lambda each: (abs(each - middle), each))
        match fails(place):
            case True:
                failing = place
            case False:
                passing = place
            case None:
                continue
