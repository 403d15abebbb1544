"""The proposals of a pass that are worth a run: valid, smaller, and without new empty tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes import Pass, Subject
from fuzzer.triage.size import size_of
from generators.check import check
from generators.graph import Case, Invalid
from generators.retype import retyped_case


def smaller_proposals(propose: Pass, subject: Subject) -> Iterator[Subject]:
    """Yield valid, smaller proposals of the pass. No tensor becomes empty: empty tensors have bugs of their own."""
    size, empty = size_of(subject.case, subject.lane), _has_empty(subject.case)
    for proposal in propose(subject):
        valid = checked(proposal)
        if valid is None or size_of(valid.case, valid.lane) >= size or (_has_empty(valid.case) and not empty):
            continue
        yield valid


def _has_empty(case: Case) -> bool:
    return any(value.type.numel == 0 for value in case.bound.values())


def checked(subject: Subject) -> Subject | None:
    """Return the proposal with newly inferred types, or None if it is invalid. Proposals are rejected only here."""
    if not subject.graph.nodes:
        return None
    try:
        case = retyped_case(subject.case)
        check(case)
    except Invalid:
        return None
    return replace(subject, case=case)
