"""Greedy reduction to a fixpoint: accept the first smaller candidate with the same failure until no pass has one."""

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
"""How often the result runs again. Together with the run that accepted it, three runs show the failure."""


@dataclass(frozen=True, slots=True)
class OtherFailure:
    """A valid candidate that fails in another way."""

    case: Case
    finding: Finding


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of a reduction.

    calls           how many calls of the predicate were needed
    finished        whether the fixpoint was reached before a limit
    steps           the passes whose candidates were accepted, in order
    other_failures  one for each coarse signature
    ahead           further calls, made before their turn and not needed
    """

    case: Case
    lane: LaneSpec
    calls: int
    finished: bool
    steps: tuple[str, ...] = ()
    other_failures: tuple[OtherFailure, ...] = ()
    ahead: int = 0


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
    with CandidateChecks(predicate, effort, width) as checks:
        search = _Search(checks, compute_values, passes)
        last = search.run(search.with_values(Subject(case, lane, {}, needs_ops)))
        steps, other_failures = tuple(step.name for step in search.trail), tuple(search.other_failures.values())
    return Reduction(
        renumbered(last.case), last.lane, checks.calls, search.finished, steps, other_failures, checks.ahead
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """One accepted candidate: the pass that proposed it, the subject before, and the subject after."""

    name: str
    before: Subject
    after: Subject


class _Search:
    """The state of one reduction: the accepted steps, and the other failures found so far."""

    def __init__(self, checks: CandidateChecks, compute_values: ComputeValues, passes: Sequence[Pass]) -> None:
        self._checks, self._compute_values, self._passes = checks, compute_values, passes
        self.trail: list[_Step] = []
        self.other_failures: dict[Signature, OtherFailure] = {}
        self.finished = True
        self._first = 0
        """The index of the pass that proposes first."""

    def run(self, subject: Subject) -> Subject:
        """Reduce to a fixpoint that shows the failure in every run.

        If the fixpoint does not, go back to the last step that does, and continue from there without the next step.
        """
        while True:
            subject = self._fixpoint(subject)
            steps = len(self.trail)
            while self.trail and not self._holds(subject):
                subject = self._back(len(self.trail) - 1)
            if steps == len(self.trail):
                return subject

    def with_values(self, subject: Subject, before: Subject | None = None) -> Subject:
        """Add the values that PyTorch computes. A single node needs none, because nothing can be cut out of it."""
        if before is not None and _computes_the_same(subject, before):
            return replace(subject, computed=before.computed)
        return replace(subject, computed=self._compute_values(subject.case) if len(subject.graph.nodes) > 1 else {})

    def _fixpoint(self, subject: Subject) -> Subject:
        try:
            self._first = 0
            while (smaller := self._smaller(subject)) is not None:
                subject = smaller
        except EffortUsedUp:
            self.finished = False
        return subject

    def _smaller(self, subject: Subject) -> Subject | None:
        """Return the first candidate that shows the failure, or None if there is none.

        The pass that succeeded last proposes first, then the passes after it, then those before it. Therefore the
        passes before it are tried once, at the end.
        """
        in_turn = (*self._passes[self._first :], *self._passes[: self._first])
        for candidate, result in self._checks.results(_candidates(in_turn, subject)):
            if not result.same:
                for finding in result.findings:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
            elif (start := self._misleading_step(candidate.subject)) is not None:
                for finding in result.findings[:1]:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
                return self._back(start)
            else:
                taken = self.with_values(candidate.subject, subject)
                self.trail.append(_Step(candidate.by.__name__, subject, taken))
                self._first = 0 if candidate.by in CUTTING else self._passes.index(candidate.by)
                return taken
        return None

    def _misleading_step(self, subject: Subject) -> int | None:
        """Return the index of a step that inserted a plainer operator which fails by itself, or None.

        Before that step every operator was needed. If one is not needed any more, and only operators distinguish the
        failure from others, the subject now shows another failure.
        """
        for index, step in enumerate(self.trail):
            fewer = len(subject.graph.nodes) < len(step.after.graph.nodes)
            if step.name == simpler_operators.__name__ and fewer and subject.needs_ops:
                return index
        return None

    def _holds(self, subject: Subject) -> bool:
        return all(self._checks.repeat(subject).same for _ in range(AGAIN))

    def _back(self, index: int) -> Subject:
        """Return the subject before the step, which is not taken again."""
        step = self.trail[index]
        del self.trail[index:]
        self._checks.reject(step.after)
        return step.before


def _candidates(passes: Sequence[Pass], subject: Subject) -> Iterator[Candidate]:
    """Yield valid, smaller proposals of the passes. No tensor becomes empty: empty tensors have bugs of their own."""
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
    """Return the candidate with newly inferred types, or None if it is invalid. Candidates are rejected only here."""
    if not subject.graph.nodes:
        return None
    try:
        case = retyped_case(subject.case)
        check(case)
    except Invalid:
        return None
    return replace(subject, case=case)


def _computes_the_same(subject: Subject, before: Subject) -> bool:
    """Return whether each value is the same as before: the nodes and tensors are a subset of those before."""
    known = {**before.case.tensors, **before.computed}
    same_numbers = all(array is known.get(name) for name, array in subject.case.tensors.items())
    return same_numbers and all(node in before.graph.nodes for node in subject.graph.nodes)
