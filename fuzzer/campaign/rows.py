"""What a campaign's index holds of a test, and of what tests taught."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What is kept of a test that showed nothing new: some 30 bytes, and 20 for each lane."""

    number: int
    cpu_ms: int
    outcomes: tuple[tuple[str, str, str | None], ...]
    """(lane, how it came out, stage of a failure)."""
    ops: frozenset[str] = frozenset()
    """Of the graph: they are counted, not kept."""


@dataclass(frozen=True, slots=True)
class FailureRate:
    """How often lanes of a route met an operator of a dtype, and how much of their failing was laid to it."""

    route: Importer
    op: str
    dtype: str
    met: float
    blamed: float


@dataclass(frozen=True, slots=True)
class Observations:
    """`features`: in how many tests more each was seen, by name; `first`: the first of these tests."""

    features: Mapping[str, int]
    first: Mapping[str, int]
    failure_rates: tuple[FailureRate, ...] = ()


NO_OBSERVATIONS = Observations({}, {})


def index_row(
    number: int, cpu_seconds: float, outcomes: Mapping[LaneSpec, Outcome], ops: Iterable[str] = ()
) -> IndexRow:
    outcome_rows = tuple((lane.name, *_how(outcome)) for lane, outcome in outcomes.items())
    return IndexRow(number, round(1000 * cpu_seconds), outcome_rows, frozenset(ops))


def _how(outcome: Outcome) -> tuple[str, str | None]:
    match outcome:
        case Ran():
            return "ran", None
        case Built():
            return "built", None
        case Raised(stage=stage):
            return "raised", stage
        case Died(stage=stage):
            return "died", stage
        case TimedOut(stage=stage):
            return "timed out", stage
        case Unsupported(stage=stage):
            return "unsupported", stage
        case Skipped():
            return "skipped", None
