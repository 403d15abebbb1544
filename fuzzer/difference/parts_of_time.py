"""How `fuzz diff` divides its time: tests come first, and the rest is for what they have shown."""

from __future__ import annotations

from dataclasses import dataclass

REST = 1 / 3
"""The part of the time after the tests."""

MOST_REST = 240.0
"""The most seconds after the tests: more of a long run is for tests."""

OF_TRIAGE = 3 / 4
"""The part of the rest in which failures are investigated. Then what is fixed is confirmed."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds since the first test may begin.

    tests   when the last test begins
    triage  when the last investigation begins
    whole   when all ends
    """

    tests: float
    triage: float
    whole: float

    @classmethod
    def of(cls, whole: float) -> Times:
        rest = min(whole * REST, MOST_REST)
        return cls(whole - rest, whole - rest * (1 - OF_TRIAGE), whole)
