"""What the tests of a comparison have reached of the changed code, and which operators reach it."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.store.features import of_case
from generators.choice import ChoiceSource
from generators.graph import Case

MOST_KEPT = 16
"""This many of the last cases that reached a part of the changed code are kept, to draw mutations of them."""

DIFFERING_OF = 3
"""Where both are known, the operators of all but one test in this many show a difference in what the compilers did:
that is worth more than a call of the changed code, which may have no effect."""

CLOSE = 0.7
"""An operator counts as one that reaches a function if it does so in this part of its tests, compared with the operator
that does most."""


@dataclass(slots=True)
class Reach:
    """Thread-safe.

    tests       how many tests ran
    reaching    how many of them reached the changed code
    by_name     how many tests reached each function or part
    differing   how many tests showed each difference in what the compilers did: a name of `Facts.behaviour` that only
                one of them has, after `-` or `+`
    features    how many tests that reached the changed code had each feature of a case
    """

    tests: int = 0
    reaching: int = 0
    by_name: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    _with: Counter[str] = field(default_factory=Counter)
    _both: Counter[tuple[str, str]] = field(default_factory=Counter)
    _cases: dict[str, deque[Case]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=MOST_KEPT)))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def learn(self, case: Case, reached: Collection[str], differing: Collection[str] = ()) -> None:
        """Take in a finished test: what it reached, and what the compilers did otherwise."""
        names, ops = {*reached, *differing}, case.graph.rows
        with self._lock:
            self.tests += 1
            self.reaching += bool(reached)
            self.by_name.update(set(reached))
            self.differing.update(set(differing))
            self._with.update(ops)
            self._both.update((op, name) for op in ops for name in names)
            self.features.update(set(of_case(case.graph)) if reached else ())
            for name in names:
                self._cases[name].append(case)

    @property
    def is_selective(self) -> bool:
        """Whether some tests reach the changed code, and most do not: then it is worth aiming at it."""
        return 0 < 2 * self.reaching <= self.tests

    def _selective(self, counts: Mapping[str, int]) -> dict[str, int]:
        """The names that at most half of the tests have. What all tests reach says nothing about operators."""
        return {name: count for name, count in counts.items() if 2 * count <= self.tests}

    def operators(self, source: ChoiceSource) -> Sequence[str]:
        """The operators that reach a part of the changed code, or of what the compilers do otherwise: the rarer the
        part, the more often it is drawn. Empty where no test has reached any, or where most tests reach all."""
        with self._lock:
            differing, reached = self._selective(self.differing), self._selective(self.by_name)
            if not (differing or reached):
                return ()
            wanted = differing if source.integer(1, DIFFERING_OF) > 1 else reached
            counts = wanted or differing or reached
            names = sorted(counts)
            name = _weighted(source, names, [1.0 / counts[name] for name in names])
            rates = {op: self._both[op, name] / times for op, times in self._with.items() if self._both[op, name]}
        least = CLOSE * max(rates.values())
        return sorted(op for op, rate in rates.items() if rate >= least)

    def case(self, source: ChoiceSource) -> Case | None:
        """One of the last cases that reached a part of the changed code, or in which the compilers differ: the rarer
        the part, the more often it is drawn."""
        with self._lock:
            if not self._cases:
                return None
            names = sorted(self._cases)
            name = _weighted(source, names, [1.0 / (self.by_name[name] or self.differing[name]) for name in names])
            return source.choice(list(self._cases[name]))


def _weighted(source: ChoiceSource, names: Sequence[str], weights: Sequence[float]) -> str:
    place = source.integer(0, 999_999) / 1_000_000 * sum(weights)
    for name, weight in zip(names, weights, strict=True):
        place -= weight
        if place < 0:
            return name
    return names[-1]
