"""The headline of a finding."""

from __future__ import annotations

import signal
from typing import assert_never

from fuzzer.signature import readable
from generators.dialect import dialect_named
from oracles.finding import PYTORCH, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.memory_access import MemoryAccess
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, TimedOut


def without_lane(finding: Finding) -> str:
    """Return what goes wrong in a few words, for lists: the message of an exception, or the headline."""
    if isinstance(finding.evidence, Raised):
        return first_line(finding.evidence.message)
    return headline(finding).removeprefix(finding.lane.name).lstrip(": ")


MOST_CHARACTERS = 200
"""A longer line of a message is cut at a blank."""


def first_line(message: str) -> str:
    line = readable(message).split("\n")[0]
    begin = line[:MOST_CHARACTERS]
    return line if line == begin else f"{begin.rpartition(' ')[0] or begin} ..."


def headline(finding: Finding) -> str:
    """Return one sentence that says what the lane does wrong."""
    lane, words = finding.lane.name, dialect_named(finding.lane.dialect).words
    match finding.evidence:
        case Raised(stage=stage, type=name, message=message):
            return f"{lane} refuses a valid {words.model} in its {stage} step: {name}: {first_line(message)}"
        case Died(stage=stage, cause=cause, code=code):
            how = signal.Signals(code).name if cause is Cause.SIGNAL else f"{cause} {code}"
            return f"{lane} ends its process in its {stage} step ({how})."
        case TimedOut(stage=stage, seconds=seconds):
            return f"{lane} does not finish its {stage} step within {seconds:.0f} s."
        case Mismatch() as m:
            if finding.kind is Kind.SECOND_RUN_DIFFERS:
                return f"{lane}: a second run on the same inputs gives another result; {m.actual}."
            other = "" if m.against == PYTORCH else f", as in {m.against}"
            addition = f" ({m.by})" if m.by else ""
            return f"{lane}{addition}: output {m.output} should be {m.expected}{other}, but is {m.actual}{_beside(m)}."
        case IllFormed(after=after, message=message):
            return f"{lane}: the module is ill-formed after {after}: {first_line(message)}"
        case Mutant(change=change, fate=fate):
            return f"{lane}: the checker accepts an ill-formed module ({change}); its further fate: {fate}."
        case SideEffect(modified=modified, aliases=aliases):
            shared = [f"output {output} shares memory with input {name}" for output, name in aliases]
            changed = [f"input {name} is changed" for name in modified]
            return f"{lane}: {', '.join(changed + shared)}; {words.reference} does not do this."
        case Excess(quantity=quantity, measured=measured, allowed=allowed, against=against):
            return (
                f"{lane}: {measured:,.6g} {quantity}, more than the allowed {allowed:,.6g} (compared with {against})."
            )
        case MemoryAccess() as access:
            return f"{lane} {access.does} ({access.dtype})."
        case _:
            assert_never(finding.evidence)


def _beside(mismatch: Mismatch) -> str:
    """What is wrong beside the worst, with a comma."""
    found = f", as {mismatch.also}" if mismatch.also else ""
    counted = mismatch.wrong and mismatch.worst is None and mismatch.elements
    are = "is" if mismatch.wrong == 1 else "are"
    return found + (f", and {mismatch.wrong} of {mismatch.elements} common elements {are} wrong" if counted else "")
