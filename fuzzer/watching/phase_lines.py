"""What a run does now, in words: its phase, how far that is, what comes next, and the keys that end and pause it."""

from __future__ import annotations

from fuzzer.campaign.run.phase import Phase
from fuzzer.system.terminal import number_of
from fuzzer.watching.formatting import duration
from fuzzer.watching.snapshot import Snapshot

KEYS = "ctrl-C ends the run and loses nothing; ctrl-Z pauses it, fg goes on"
KEYS_AT_THE_END = "ctrl-C twice ends the run at once"


def how_far(snapshot: Snapshot) -> str:
    """How far the phase is."""
    left, at = snapshot.phase.seconds_left, duration(snapshot.seconds)
    rest = "" if left is None else f"up to {duration(left)} left"
    match snapshot.phase.phase:
        case Phase.FUZZING:
            parts = [at, *_counts(snapshot), *([rest] if rest else [])]
            return ", ".join(parts) if len(parts) > 1 else f"{at}, no limit"
        case Phase.TRIAGE:
            of = number_of(snapshot.phase.left, "sighting")
            return f"{rest}{'; ' if rest else ''}{of} to investigate"
        case Phase.FINISHING:
            return f"{at}; what runs is finished, and nothing more begins"
        case Phase.PAUSED:
            return f"{at}; nothing runs"


def _counts(snapshot: Snapshot) -> list[str]:
    """The limits that are no times."""
    limits, found = snapshot.limits, []
    if limits.tests is not None:
        found.append(f"{snapshot.run_tests} of {number_of(limits.tests, 'test')}")
    if limits.new_findings is not None:
        found.append(f"{snapshot.run_findings} of {number_of(limits.new_findings, 'new finding')}")
    return found


def what_next(snapshot: Snapshot) -> str:
    """What comes after this phase; "" where nothing does."""
    limits = snapshot.limits
    match snapshot.phase.phase:
        case Phase.FUZZING:
            ends = limits.seconds is not None or limits.tests is not None
            return f"then triage for up to {duration(snapshot.drain)}" if ends and snapshot.drain > 0 else ""
        case Phase.TRIAGE if limits.tests != 0:
            return "the tests of this run are over"
        case _:
            return ""


def keys(snapshot: Snapshot) -> str:
    """The keys that end and pause the run."""
    return KEYS_AT_THE_END if snapshot.phase.phase is Phase.FINISHING else KEYS


def short(snapshot: Snapshot) -> str:
    """The phase and its time, for a line of a log."""
    phase, left = snapshot.phase.phase, snapshot.phase.seconds_left
    return f"{phase} {duration(snapshot.seconds)}" + ("" if left is None else f", up to {duration(left)} left")
