"""Chooses the cases of a regression corpus: few, small and quick ones that show as much as possible."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fuzzer.regression.candidates import Candidate
from fuzzer.regression.record import MOST_CASES

SHARE_OF_FINDINGS = 0.4
"""The part of each limit that the cases of findings may take."""

LEAST_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a corpus may have.

    cases        cases
    size         bytes of `cases.zip`. The other two files have about 400 bytes for a case
    cpu_seconds  the expected cost of a run
    """

    cases: int = MOST_CASES
    size: int = 4_000_000
    cpu_seconds: float = 200.0

    def part(self, share: float) -> Limits:
        return Limits(int(self.cases * share), int(self.size * share), self.cpu_seconds * share)


@dataclass(slots=True)
class _Kept:
    """The cases chosen so far, with what they take together."""

    by_name: dict[str, Candidate] = field(default_factory=dict)
    size: int = 0
    cpu_seconds: float = 0.0

    def takes(self, candidate: Candidate, limits: Limits) -> bool:
        """Keep the candidate, unless it is kept already or a limit forbids it. Return whether it is kept now."""
        size, cpu_seconds = self.size + candidate.size, self.cpu_seconds + candidate.cpu_seconds
        fits = len(self.by_name) < limits.cases and size <= limits.size and cpu_seconds <= limits.cpu_seconds
        if not fits or candidate.name in self.by_name:
            return False
        self.by_name[candidate.name], self.size, self.cpu_seconds = candidate, size, cpu_seconds
        return True


def chosen(findings: Iterable[Candidate], tests: Sequence[Candidate], limits: Limits = Limits()) -> list[Candidate]:
    """Choose among the cases of findings in their order, and among tests by what they add per CPU second."""
    kept = _Kept()
    for candidate in findings:
        kept.takes(candidate, limits.part(SHARE_OF_FINDINGS))
    _take_by_gain(tests, kept, limits)
    return list(kept.by_name.values())


def _take_by_gain(tests: Sequence[Candidate], kept: _Kept, limits: Limits) -> None:
    """Take tests greedily: each time the one with the most features per CPU second that no kept case has (Chvatal's
    heuristic for weighted set cover). What a test adds only shrinks, so that its last known gain is a bound."""
    covered = {name for candidate in kept.by_name.values() for name in candidate.features}
    queue = [(-_gain(each, covered), number) for number, each in enumerate(tests)]
    heapq.heapify(queue)
    while queue:
        _, number = heapq.heappop(queue)
        gain = _gain(tests[number], covered)
        if gain and queue and gain < -queue[0][0]:
            heapq.heappush(queue, (-gain, number))
        elif gain and kept.takes(tests[number], limits):
            covered |= tests[number].features


def _gain(candidate: Candidate, covered: set[str]) -> float:
    return len(candidate.features - covered) / max(candidate.cpu_seconds, LEAST_SECONDS)
