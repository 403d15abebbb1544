"""Leave out the model that a person gave: lanes run the model of the graph that was read from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject


def without_given(subject: Subject) -> Iterator[Subject]:
    """Propose the case without its given model. What the other reducers propose keeps that part of it which is their
    graph (`fuzzer.triage.proposals`)."""
    if subject.case.given is not None:
        yield replace(subject, case=replace(subject.case, given=None))
