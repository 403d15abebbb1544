"""Greedy reduction to a fixpoint: accept the first smaller candidate with the same failure, until there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.signature import Signature, signature_of
from fuzzer.triage.candidates import Candidate, CandidateChecks, Effort, EffortUsedUp, Predicate
from fuzzer.triage.proposals import smaller_proposals
from fuzzer.triage.reducers import CUTTING, REDUCERS, Reducer, Subject
from fuzzer.triage.reducers.simpler_operators import simpler_operators
from generators.graph import Array, Case
from generators.renumber import renumbered
from oracles.finding import Finding
from oracles.lane import LaneSpec

__all__ = ["Effort", "OtherFailure", "Reduction", "reduce"]

ComputeValues = Callable[[Case], Mapping[str, Array]]

UNCONFIRMED_CANDIDATES = 6
"""After this many candidates without success, a case that nobody has confirmed runs itself."""

EXTRA_RUNS = 2
"""How often the result runs again. Together with the run in which it was accepted, three runs show the failure."""


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
    late            whether the limit was that of the seconds
    steps           the reducers whose candidates were accepted, in order
    other_failures  one for each coarse signature
    ahead           how many further calls were made in advance and not needed
    places          the first result of each call of the reduced case, as the case before the reduction names it; ()
                    where the case was not reduced
    gone            whether the case itself ran and did not show the failure, which ended the reduction
    """

    case: Case
    lane: LaneSpec
    calls: int
    finished: bool
    steps: tuple[str, ...] = ()
    other_failures: tuple[OtherFailure, ...] = ()
    ahead: int = 0
    gone: bool = False
    places: tuple[str, ...] = ()
    late: bool = False


def reduce(
    subject: Subject,
    predicate: Predicate,
    compute_values: ComputeValues,
    effort: Effort = Effort(),
    reducers: Sequence[Reducer] = REDUCERS,
    *,
    width: int = 1,
    confirmed: bool = True,
) -> Reduction:
    """Return a case for which `predicate` holds, and which no reducer can make smaller than the subject's (by `Size`).

    `compute_values` computes every value of a graph in PyTorch. Each candidate is tried once, `width` candidates at a
    time. If `predicate` is deterministic and the effort suffices, the result is deterministic. It does not depend on
    `width`.

    If the case is `confirmed`, `predicate` is called on the result `EXTRA_RUNS` more times at the end. If it is not,
    the caller confirms the result, and `predicate` is called on the case itself after `UNCONFIRMED_CANDIDATES`
    candidates without success.
    """
    with CandidateChecks(predicate, effort, width) as checks:
        search = _Search(checks, compute_values, reducers, confirmed)
        smallest = search.run(search.with_values(subject))
        steps, other_failures = tuple(step.name for step in search.accepted), tuple(search.other_failures.values())
    return Reduction(
        renumbered(smallest.case),
        smallest.lane,
        checks.calls,
        search.finished,
        steps,
        other_failures,
        checks.ahead,
        search.gone,
        tuple(node.results[0].name for node in smallest.graph.nodes),
        not search.finished and checks.is_late,
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """One accepted candidate: the reducer that proposed it, the subject before, and the subject after."""

    name: str
    before: Subject
    after: Subject


class _Search:
    """The state of one reduction: the accepted steps, and the other failures found so far."""

    def __init__(
        self, checks: CandidateChecks, compute_values: ComputeValues, reducers: Sequence[Reducer], confirmed: bool
    ) -> None:
        self._checks, self._compute_values, self._reducers = checks, compute_values, reducers
        self._confirmed = confirmed
        self.accepted: list[_Step] = []
        self.other_failures: dict[Signature, OtherFailure] = {}
        self.finished = True
        self.gone = False
        self._first = 0
        """The index of the reducer that proposes first."""

    def run(self, subject: Subject) -> Subject:
        """Reduce to a fixpoint that shows the failure in every run.

        If a fixpoint does not, undo the last steps until the subject does, and search again from there. The earliest
        step that was undone is not accepted again.
        """
        while True:
            subject = self._fixpoint(subject)
            steps = len(self.accepted)
            while self.accepted and not self._holds(subject):
                subject = self._back(len(self.accepted) - 1)
            if steps == len(self.accepted):
                return subject

    def with_values(self, subject: Subject, before: Subject | None = None) -> Subject:
        """Add the values that PyTorch computes. A graph of one node needs none: nothing can be cut out of it. A
        candidate has those of the subject `before` it."""
        if before is not None and _computes_the_same(subject, before):
            return subject
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
        """Accept and return the first candidate that shows the failure; None if there is none.

        After a reducer that cuts the graph, all propose in their order. After another reducer, that one proposes
        first, then those after it, then those before it.
        """
        in_turn = (*self._reducers[self._first :], *self._reducers[: self._first])
        results = self._checks.results(_candidates(in_turn, subject), of_one_call=len(subject.graph.nodes) == 1)
        for tried, (candidate, result) in enumerate(results, 1):
            if not result.same:
                for finding in result.findings:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
                if tried == UNCONFIRMED_CANDIDATES and self._is_gone(subject):
                    return None
            elif (start := self._misleading_step(candidate.subject)) is not None:
                for finding in result.findings[:1]:
                    self.other_failures.setdefault(signature_of(finding), OtherFailure(candidate.subject.case, finding))
                return self._back(start)
            else:
                smaller = self.with_values(candidate.subject, subject)
                self.accepted.append(_Step(candidate.by.__name__, subject, smaller))
                self._first = 0 if candidate.by in CUTTING else self._reducers.index(candidate.by)
                return smaller
        return None

    def _misleading_step(self, subject: Subject) -> int | None:
        """Return the index of a step whose plainer operator has a failure of its own; None if there is no such step.

        Every operator was needed before that step. If the subject shows a failure without one of them, and only the
        operators distinguish this failure from others, then it is another failure.
        """
        for index, step in enumerate(self.accepted):
            fewer = len(subject.graph.nodes) < len(step.after.graph.nodes)
            if step.name == simpler_operators.__name__ and fewer and subject.needs_ops:
                return index
        return None

    def _is_gone(self, subject: Subject) -> bool:
        """Run a case that no run has shown to fail yet, and record whether it does not."""
        self.gone = not (self._confirmed or self.accepted or self._checks.repeat(subject).same)
        return self.gone

    def _holds(self, subject: Subject) -> bool:
        return not self._confirmed or all(self._checks.repeat(subject).same for _ in range(EXTRA_RUNS))

    def _back(self, index: int) -> Subject:
        """Undo this step and all later ones, and return the subject before it. The step is not accepted again."""
        step = self.accepted[index]
        del self.accepted[index:]
        self._checks.reject(step.after)
        return step.before


def _candidates(reducers: Sequence[Reducer], subject: Subject) -> Iterator[Candidate]:
    """Yield the proposals of the reducers that are worth a run."""
    for propose in reducers:
        for smaller in smaller_proposals(propose, subject):
            yield Candidate(propose, smaller)


def _computes_the_same(subject: Subject, before: Subject) -> bool:
    """Return whether each value is the same as before: the nodes and tensors are a subset of those before."""
    known = {**before.case.tensors, **before.computed}
    same_numbers = all(array is known.get(name) for name, array in subject.case.tensors.items())
    there = {node.results[0].name: node for node in before.graph.nodes}
    return same_numbers and all(there.get(node.results[0].name) == node for node in subject.graph.nodes)
