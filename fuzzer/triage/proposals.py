"""The proposals of a reducer that are worth a run: valid, smaller, and without new empty tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from fuzzer.triage.reducers import Reducer, Subject
from fuzzer.triage.reducers.pointed_node import pointed_node
from fuzzer.triage.reducers.without_given import without_given
from fuzzer.triage.size import size_of
from generators.check import check
from generators.graph import Case, Invalid
from generators.part_of_given import with_part_of_given
from generators.retype import retyped_case


def smaller_proposals(propose: Reducer, subject: Subject) -> Iterator[Subject]:
    """Yield valid, smaller proposals of the reducer. No tensor becomes empty: empty tensors have bugs of their own."""
    size, empty = size_of(subject.case, subject.lane), _has_empty(subject.case)
    for proposal in propose(subject):
        valid = checked(proposal)
        for each in _of_given(propose, subject, valid) if valid else ():
            if size_of(each.case, each.lane) < size and (empty or not _has_empty(each.case)):
                yield each


def _of_given(propose: Reducer, subject: Subject, proposal: Subject) -> Iterator[Subject]:
    """The proposal, for a subject without a given model. Otherwise its graph was read from a model: the proposal gets
    that part of the model which is its graph. Without a model it is only proposed before `without_given` was tried."""
    if subject.case.given is None or propose is without_given:
        yield proposal
        return
    if propose is pointed_node:
        yield proposal
    if proposal.case.given is not None:
        yield proposal
        return
    with suppress(Invalid):
        yield replace(proposal, case=with_part_of_given(subject.case, proposal.case))


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
