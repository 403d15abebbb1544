"""How the lanes ended that do not fail on a case, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from fuzzer.system.terminal import number_of
from generators.graph import Case
from oracles.judged_elements import elements_line, judged_elements, why_none
from oracles.lane import LaneSpec
from oracles.outcome import (
    Broken,
    Built,
    Died,
    Outcome,
    Outcomes,
    Raised,
    Ran,
    Skipped,
    TimedOut,
    Unsupported,
    why_no_result,
)
from oracles.reference import expected


def endings(case: Case, outcomes: Outcomes, lanes: Sequence[LaneSpec]) -> Iterator[str]:
    """Yield a line for each way in which some of the lanes ended: how many, which, and why they have no result."""
    found = judged_elements(outcomes, lanes)
    are_judged = expected(outcomes) is not None and not found.none
    groups: dict[tuple[str, str], list[str]] = {}
    for lane in lanes:
        outcome = outcomes.get(lane, Skipped("the case was not run"))
        ending = _ending(outcome, are_judged=are_judged)
        groups.setdefault((ending, why_no_result(outcome)), []).append(lane.name)
    for (ending, why), names in groups.items():
        yield f"{number_of(len(names), 'lane')} {ending}: {', '.join(names)}{f' ({why})' if why else ''}"
    if found.none and expected(outcomes) is not None:
        yield why_none(case, found)
    elif found.judged:
        yield elements_line(found)


def _ending(outcome: Outcome, *, are_judged: bool) -> str:
    match outcome:
        case Ran():
            return "with the right result" if are_judged else "with a result that cannot be judged"
        case Built():
            return "with code that this machine cannot run"
        case Unsupported():
            return "without support for the model"
        case Skipped():
            return "not run"
        case Broken() | Raised() | Died() | TimedOut():
            return "without a result, which cannot be judged"
        case _:
            assert_never(outcome)
