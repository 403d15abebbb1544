"""Greedy reduction to a fixpoint: accept the first smaller candidate with the same failure, until no pass has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.signature import Signature, signature_of
from fuzzer.triage.candidates import Candidate, CandidateChecks, Effort, EffortUsedUp, Predicate
from fuzzer.triage.passes import CUTTING, PASSES, Pass, Subject
from fuzzer.triage.passes.simpler_operators import simpler_operators
from fuzzer.triage.size import size_of
from generators.check import check
from generators.graph import Array, Case, Invalid
from generators.renumber import renumbered
from generators.retype import retyped_case
from oracles.finding import Finding
from oracles.lane import LaneSpec

__all__ = ["Effort", "OtherFailure", "Reduction", "reduce"]

ComputeValues = Callable[[Case], Mapping[str, Array]]

AGAIN = 2
"""How often the result runs once more. With the run that accepted it, that makes 3 of 3."""


@dataclass(frozen=True, slots=True)
class OtherFailure:
    """A valid candidate that fails in another way."""

    case: Case
    finding: Finding


@dataclass(frozen=True, slots=True)
class Reduction:
    """`steps` are the passes whose candidates were accepted, in order. `slips` has one for each coarse signature."""

    case: Case
    lane: LaneSpec
    calls: int
    finished: bool
    """False if the effort ran out before the fixpoint."""
    steps: tuple[str, ...] = ()
    other_failures: tuple[OtherFailure, ...] = ()
    ahead: int = 0
    """Further calls, which were made ahead of their turn and not needed."""


def reduce(
    case: Case,
    lane: LaneSpec,
    predicate: Predicate,
    compute_values: ComputeValues,
    effort: Effort = Effort(),
    passes: Sequence[Pass] = PASSES,
    *,
    width: int = 1,
    needs_ops: bool = False,
) -> Reduction:
    """Return the smallest case, by `Size`, for which `predicate` holds. At the end `predicate` is called on it again.

    `compute_values` computes every value of a graph in PyTorch. Each candidate is tried once, `width` candidates at a
    time. The result is deterministic if `predicate` is and the effort suffices. It does not depend on `width`.
    """
    with CandidateChecks(predicate, effort, width) as asking:
        search = _Search(asking, compute_values, passes)
        last = search.run(search.tapped(Subject(case, lane, {}, needs_ops)))
        steps, other_failures = tuple(step.name for step in search.trail), tuple(search.other_failures.values())
    return Reduction(
        renumbered(last.case), last.lane, asking.calls, search.finished, steps, other_failures, asking.ahead
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """One accepted candidate: the pass that proposed it, the subject before, and the subject after."""

    name: str
    before: Subject
    after: Subject


class _Search:
    def __init__(self, asking: CandidateChecks, compute_values: ComputeValues, passes: Sequence[Pass]) -> None:
        self._asking, self._compute_values, self._passes = asking, compute_values, passes
        self.trail: list[_Step] = []
        self.other_failures: dict[Signature, OtherFailure] = {}
        self.finished = True
        self._first = 0
        """The index of the pass that proposes first."""

    def run(self, subject: Subject) -> Subject:
        """Reduce to a fixpoint that shows the failure each time. If the fixpoint does not, some step was a mistake: go
        back to the last step that shows it each time, and continue from there in another way."""
        while True:
            subject = self._fixpoint(subject)
            steps = len(self.trail)
            while self.trail and not self._holds(subject):
                subject = self._back(len(self.trail) - 1)
            if steps == len(self.trail):
                return subject

    def tapped(self, subject: Subject, before: Subject | None = None) -> Subject:
        """Add what PyTorch computes for each value. A single node needs none: nothing can be cut out of it."""
        if before is not None and _computes_the_same(subject, before):
            return replace(subject, taps=before.taps)
        return replace(subject, taps=self._compute_values(subject.case) if len(subject.graph.nodes) > 1 else {})

    def _fixpoint(self, subject: Subject) -> Subject:
        try:
            self._first = 0
            while (smaller := self._smaller(subject)) is not None:
                subject = smaller
        except EffortUsedUp:
            self.finished = False
        return subject

    def _smaller(self, subject: Subject) -> Subject | None:
        """The first candidate that shows the failure. The pass that succeeded last proposes first, then the passes
        after it, then those before it. So the passes before it are tried once, at the end."""
        in_turn = (*self._passes[self._first :], *self._passes[: self._first])
        for candidate, answer in self._asking.answers(_candidates(in_turn, subject)):
            if not answer.same:
                for finding in answer.findings:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
            elif (start := self._unfaithful(candidate.subject)) is not None:
                for finding in answer.findings[:1]:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
                return self._back(start)
            else:
                taken = self.tapped(candidate.subject, subject)
                self.trail.append(_Step(candidate.by.__name__, subject, taken))
                self._first = 0 if candidate.by in CUTTING else self._passes.index(candidate.by)
                return taken
        return None

    def _unfaithful(self, subject: Subject) -> int | None:
        """The index of a step that put in a plainer operator which fails by itself; None if there is no such step.

        Before that step every operator was needed. If one is not needed any more, and only operators distinguish the
        failure from others, the subject shows another failure now.
        """
        for index, step in enumerate(self.trail):
            fewer = len(subject.graph.nodes) < len(step.after.graph.nodes)
            if step.name == simpler_operators.__name__ and fewer and subject.needs_ops:
                return index
        return None

    def _holds(self, subject: Subject) -> bool:
        return all(self._asking.again(subject).same for _ in range(AGAIN))

    def _back(self, index: int) -> Subject:
        """The subject before the step. The step is not taken again."""
        step = self.trail[index]
        del self.trail[index:]
        self._asking.reject(step.after)
        return step.before


def _candidates(passes: Sequence[Pass], subject: Subject) -> Iterator[Candidate]:
    """Valid and smaller proposals of the passes. No tensor becomes empty: empty tensors have bugs of their own."""
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
    """The candidate with its types inferred afresh; None if it is invalid. Candidates are rejected only here."""
    if not subject.graph.nodes:
        return None
    try:
        case = retyped_case(subject.case)
        check(case)
    except Invalid:
        return None
    return replace(subject, case=case)


def _computes_the_same(subject: Subject, before: Subject) -> bool:
    """Whether each value has the same numbers as before: the nodes and tensors are a subset of those before."""
    known = {**before.case.tensors, **before.taps}
    same_numbers = all(array is known.get(name) for name, array in subject.case.tensors.items())
    return same_numbers and all(node in before.graph.nodes for node in subject.graph.nodes)
