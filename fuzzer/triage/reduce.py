"""Greedy reduction to a fixpoint: the first smaller candidate with the same failure is taken, until no pass has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.triage.asking import Asking, Candidate, Effort, Predicate, Spent
from fuzzer.triage.passes import CUTTING, PASSES, Pass, Subject
from fuzzer.triage.passes.simpler_operators import simpler_operators
from fuzzer.triage.signature import Signature, signature_of
from fuzzer.triage.size import size_of
from generators.check import check
from generators.graph import Array, Case, Invalid
from generators.renumber import renumbered
from generators.retype import retyped_case
from oracles.finding import Finding
from oracles.lane import LaneSpec

__all__ = ["Effort", "Reduction", "Slip", "reduce"]

Tap = Callable[[Case], Mapping[str, Array]]

AGAIN = 2
"""How often the result is asked about once more: with the run that it was taken for, that makes 3 of 3."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A valid candidate that failed, but otherwise."""

    case: Case
    finding: Finding


@dataclass(frozen=True, slots=True)
class Reduction:
    """`steps` are the passes whose candidates were taken, in order. Of `slips`, there is one for each coarse
    signature."""

    case: Case
    lane: LaneSpec
    calls: int
    finished: bool
    """False where the effort ran out before the fixpoint."""
    steps: tuple[str, ...] = ()
    slips: tuple[Slip, ...] = ()
    ahead: int = 0
    """Calls on top of these that were made ahead of their turn, and not needed."""


def reduce(
    case: Case,
    lane: LaneSpec,
    predicate: Predicate,
    tap: Tap,
    effort: Effort = Effort(),
    passes: Sequence[Pass] = PASSES,
    *,
    width: int = 1,
    told_by_operators: bool = False,
) -> Reduction:
    """The smallest case found, under `Size`, for which `predicate` still holds: again, when it is all over.

    `tap` computes every value of a graph in PyTorch. Each candidate is asked about once, `width` of them at a time.
    Deterministic as long as `predicate` is and the effort suffices; `width` has no part in the result.
    """
    with Asking(predicate, effort, width) as asking:
        search = _Search(asking, tap, passes)
        last = search.run(search.tapped(Subject(case, lane, {}, told_by_operators)))
        steps, slips = tuple(step.name for step in search.trail), tuple(search.slips.values())
    return Reduction(renumbered(last.case), last.lane, asking.calls, search.finished, steps, slips, asking.ahead)


@dataclass(frozen=True, slots=True)
class _Step:
    """What was taken, by which pass, and what it was taken for."""

    name: str
    before: Subject
    after: Subject


class _Search:
    def __init__(self, asking: Asking, tap: Tap, passes: Sequence[Pass]) -> None:
        self._asking, self._tap, self._passes = asking, tap, passes
        self.trail: list[_Step] = []
        self.slips: dict[Signature, Slip] = {}
        self.finished = True
        self._first = 0
        """The place of the pass whose turn it is."""

    def run(self, subject: Subject) -> Subject:
        """Down to a fixpoint that shows the failure whenever it is asked. What does not was taken by mistake: back to
        the last step that does, and on from there by another way."""
        while True:
            subject = self._fixpoint(subject)
            steps = len(self.trail)
            while self.trail and not self._holds(subject):
                subject = self._back(len(self.trail) - 1)
            if steps == len(self.trail):
                return subject

    def tapped(self, subject: Subject, before: Subject | None = None) -> Subject:
        """With what PyTorch computes for each value; nothing can be cut out of a single node, so no need to ask."""
        if before is not None and _computes_the_same(subject, before):
            return replace(subject, taps=before.taps)
        return replace(subject, taps=self._tap(subject.case) if len(subject.graph.nodes) > 1 else {})

    def _fixpoint(self, subject: Subject) -> Subject:
        try:
            self._first = 0
            while (smaller := self._smaller(subject)) is not None:
                subject = smaller
        except Spent:
            self.finished = False
        return subject

    def _smaller(self, subject: Subject) -> Subject | None:
        """The first candidate that holds. Whose was taken last has the first word, then those behind it, then those
        before: what a tidier graph could still be rid of is asked once, at the end."""
        in_turn = (*self._passes[self._first :], *self._passes[: self._first])
        for candidate, answer in self._asking.answers(_candidates(in_turn, subject)):
            if not answer.same:
                for finding in answer.findings:
                    self.slips.setdefault(signature_of(finding), Slip(candidate.subject.case, finding))
            elif (start := self._unfaithful(candidate.subject)) is not None:
                for finding in answer.findings[:1]:
                    self.slips.setdefault(signature_of(finding), Slip(candidate.subject.case, finding))
                return self._back(start)
            else:
                taken = self.tapped(candidate.subject, subject)
                self.trail.append(_Step(candidate.by.__name__, subject, taken))
                self._first = 0 if candidate.by in CUTTING else self._passes.index(candidate.by)
                return taken
        return None

    def _unfaithful(self, subject: Subject) -> int | None:
        """The step that put in a plainer operator which, as it turns out, fails by itself; None where there is none.

        Before that step every operator was needed. Where one is not any more, and only operators tell the failure from
        others, it is another failure by now.
        """
        for index, step in enumerate(self.trail):
            fewer = len(subject.graph.nodes) < len(step.after.graph.nodes)
            if step.name == simpler_operators.__name__ and fewer and subject.told_by_operators:
                return index
        return None

    def _holds(self, subject: Subject) -> bool:
        return all(self._asking.again(subject).same for _ in range(AGAIN))

    def _back(self, index: int) -> Subject:
        """To what was there before a step, which is not taken again."""
        step = self.trail[index]
        del self.trail[index:]
        self._asking.reject(step.after)
        return step.before


def _candidates(passes: Sequence[Pass], subject: Subject) -> Iterator[Candidate]:
    """What the passes propose that is valid and smaller. No tensor becomes empty: empty ones have bugs of their own."""
    size, empty = size_of(subject.case, subject.lane), _has_empty(subject.case)
    for propose in passes:
        for candidate in propose(subject):
            valid = _checked(candidate)
            if valid is None or size_of(valid.case, valid.lane) >= size or (_has_empty(valid.case) and not empty):
                continue
            yield Candidate(propose, valid)


def _has_empty(case: Case) -> bool:
    return any(value.type.numel == 0 for value in case.bound.values())


def _checked(subject: Subject) -> Subject | None:
    """The candidate with its types inferred afresh; None where it breaks a rule. The one place that rejects."""
    if not subject.graph.nodes:
        return None
    try:
        case = retyped_case(subject.case)
        check(case)
    except Invalid:
        return None
    return replace(subject, case=case)


def _computes_the_same(subject: Subject, before: Subject) -> bool:
    """Whether each value has the numbers that it had: calls and operands are some of those of before."""
    had = {**before.case.tensors, **before.taps}
    same_numbers = all(array is had.get(name) for name, array in subject.case.tensors.items())
    return same_numbers and all(node in before.graph.nodes for node in subject.graph.nodes)
