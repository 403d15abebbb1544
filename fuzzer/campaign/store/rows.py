"""The rows of a campaign's index: one for each test, and what guidance observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from oracles.lane import Importer, LaneSpec
from oracles.outcome import Broken, Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the index keeps of a test: about 30 bytes, and 20 for each lane."""

    number: int
    cpu_ms: int
    outcomes: tuple[tuple[str, str, str | None], ...]
    """(lane, how it ended, stage of a failure)."""
    ops: frozenset[str] = frozenset()
    """The operators of the graph. They are counted, not kept."""


@dataclass(frozen=True, slots=True)
class FailureRate:
    """How many lanes of a route met an operator with a dtype (`met`), and how many failures were attributed to it
    (`blamed`)."""

    route: Importer
    op: str
    dtype: str
    met: float
    blamed: float


@dataclass(frozen=True, slots=True)
class Observations:
    """`features` has, by name, the number of new tests with a feature; `first` has the first of these tests."""

    features: Mapping[str, int]
    first: Mapping[str, int]
    failure_rates: tuple[FailureRate, ...] = ()


NO_OBSERVATIONS = Observations({}, {})


def index_row(
    number: int, cpu_seconds: float, outcomes: Mapping[LaneSpec, Outcome], ops: Iterable[str] = ()
) -> IndexRow:
    outcome_rows = tuple((lane.name, *_how(outcome)) for lane, outcome in outcomes.items())
    return IndexRow(number, round(1000 * cpu_seconds), outcome_rows, frozenset(ops))


def in_turn(test: IndexRow) -> Iterator[tuple[int, str, str, str | None]]:
    """(turn, lane, how it ended, stage) of each outcome. `turn` numbers lanes with the same name, as drawn lanes
    have."""
    turns: Counter[str] = Counter()
    for lane, how, stage in test.outcomes:
        yield turns[lane], lane, how, stage
        turns[lane] += 1


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
        case Broken(stage=stage):
            return "broken", stage
