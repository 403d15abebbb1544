"""What a process sends about a lane must have the form that a finding may have.

A lane may have overwritten the memory of its process. Then its numbers and names are nonsense, and a finding of them
could not be read again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from generators.text_forms import faults
from oracles.evidence_forms import FORMS, faults_of_evidence
from oracles.finding import Evidence
from oracles.outcome import Facts, Raised

MOST = 1 << 53
"""Each number below it is a float too."""


def why_no_facts(facts: Facts) -> str | None:
    """The first thing in facts that has not its form, in one sentence; None where there is none."""
    return next(_faults_of_facts(facts), None)


def why_no_exception(raised: Raised) -> str | None:
    """The same for an exception."""
    lines = (_out_of_range("line", frame.line) for frame in raised.frames)
    return next((each for found in (faults(raised, FORMS), *lines) for each in found), None)


def _faults_of_facts(facts: Facts) -> Iterator[str]:
    saved = dataclasses.replace(facts, behaviour=(), reached=(), trace=None)  # findings do not have these
    yield from faults(saved, FORMS)
    shown: tuple[Evidence, ...] = (*saved.accesses, *saved.mutants)
    for evidence in shown:
        yield from faults_of_evidence(evidence)
    for position, _ in saved.aliases:
        yield from _out_of_range("aliases", position)
    for field in dataclasses.fields(saved):
        value = getattr(saved, field.name)
        if isinstance(value, int | float):
            yield from _out_of_range(field.name, value)


def _out_of_range(name: str, value: float) -> Iterator[str]:
    if not 0 <= value < MOST:
        yield f"{name}: {'a negative number' if value < 0 else 'a number of 2^53 or more'}"
