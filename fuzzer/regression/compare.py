"""Compares how the lanes of a regression corpus end with how they ended when it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fuzzer.findings.check_failures import fails_check
from fuzzer.regression.record import Entry
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, Ends
from oracles.finding import Finding
from oracles.lane import LaneSpec


class Change(StrEnum):
    """How a lane ends otherwise than the corpus expects."""

    WORSE = "worse"  # it failed in no way, and fails now
    REFUSED = "refused"  # it supported the case, and does not now
    ALIASED = "shares memory with an input"  # it is right otherwise, and it failed in no way
    OTHERWISE = "fails otherwise"  # it failed, and fails in another way now
    PASSES = "passes now"  # it was expected to fail
    SUPPORTED = "supported now"  # it did not support the case
    MISSING = "did not run"  # this machine or this toolchain cannot run the lane

    def is_for_the_worse(self, *, aliasing: bool) -> bool:
        return self in (Change.WORSE, Change.REFUSED, Change.OTHERWISE) or (aliasing and self is Change.ALIASED)


@dataclass(frozen=True, slots=True)
class Changed:
    """A lane of a case that ends otherwise than expected.

    lane      as the corpus calls it
    expected  `RIGHT`, `UNSUPPORTED`, or the id of a known failure
    now       the same; "" where it did not run
    finding   what fails now
    """

    entry: Entry
    lane: str
    spec: LaneSpec
    change: Change
    expected: str
    now: str
    finding: Finding | None = None


def expected_ends(entry: Entry) -> dict[str, str]:
    """How each lane of a case ended, by the name of the lane."""
    return {**dict.fromkeys(entry.right, RIGHT), **dict.fromkeys(entry.unsupported, UNSUPPORTED), **entry.fails}


def changes(entry: Entry, specs: Mapping[str, LaneSpec], now: Ends) -> Iterator[Changed]:
    """The lanes of a case that end otherwise. `specs` are the lanes as they ran now, by the names of the corpus;
    a lane that is not in it cannot run in this toolchain."""
    for name, expected in expected_ends(entry).items():
        if name not in specs:
            continue
        end = now.ends.get(specs[name], "")
        if end != expected:
            found = now.findings.get(end)
            yield Changed(entry, name, specs[name], _change(expected, end, found), expected, end, found)


def _change(expected: str, now: str, found: Finding | None) -> Change:
    if not now:
        return Change.MISSING
    if found is not None and expected == RIGHT and not fails_check(found.kind, aliasing=False):
        return Change.ALIASED
    fails = now not in (RIGHT, UNSUPPORTED)
    if expected in (RIGHT, UNSUPPORTED):
        return Change.WORSE if fails else Change.REFUSED if expected == RIGHT else Change.SUPPORTED
    return Change.PASSES if now == RIGHT else Change.OTHERWISE
