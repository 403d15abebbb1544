"""The phases of a run, and how far the present one is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """What a run does. The warm-up comes before all of these."""

    FUZZING = "fuzzing"  # tests begin, and triage has its share
    TRIAGE = "triage"  # no more tests begin: what waits is investigated
    FINISHING = "finishing"  # nothing more begins
    PAUSED = "paused"  # nothing runs


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """How far a phase is.

    phase         the present one
    seconds_left  how long it goes on at most; None where no time limits it
    part          the part of it that is over, from 0 to 1; None where nothing limits it
    left          in triage, how many sightings are still to be investigated
    """

    phase: Phase
    seconds_left: float | None = None
    part: float | None = None
    left: int = 0
