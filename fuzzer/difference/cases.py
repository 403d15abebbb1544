"""The cases of a comparison: kept cases first, then fresh ones, aimed at the changed code."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.cases.open_sizes import at_each_size
from fuzzer.difference.focus import Focus
from fuzzer.difference.kept_cases import in_turn, widest_first
from fuzzer.difference.near_cases import NearCases, families_of
from fuzzer.difference.reach import Reach
from generators.choice import ChoiceSource
from generators.dialect_names import DEFAULT
from generators.graph import Case
from generators.mutate import mutate
from generators.op import Op
from generators.table import TABLE

NEAR, MUTATED, FAMILY = 50, 25, 10
"""Percentages of the fresh tests: cases made of operators that reach the changed code alone, mutations of cases that
reached it, and cases of the operators beside those. The rest is drawn as in every campaign."""

STEERED_OF = 3
"""As soon as some tests have reached the changed code and most have not, all but one test in this many are fresh."""

FRESH_TESTS = 100
"""After this many more tests, it is said that none reaches the changed code."""

TIMES = 5
"""The tests end when each class of the operators that run the change has run this many times without a difference."""

LEAST, MOST = 150, 450
"""They do not end before this many fresh tests: classes that are seldom drawn are met by then. A condition that was not
met after the second number of them cannot be met, perhaps."""


@dataclass(slots=True)
class ComparedCases:
    """Gives the case of each test. Thread-safe.

    kept    cases that run unchanged, before all others
    ops     operators, by dialect; one case with a single call is drawn of each of PyTorch that no kept case has
    traced  whether it is known which tests reach the changed code: then the cases end where none does
    text    names in the changed code. Operators that it names come first
    corpus  cases of a regression corpus, which run unchanged beside these
    focus   what is aimed at
    conditions  names of the conditions of the changed code: there is something left to reach while one is not met
    """

    seed: int
    guidance: Guidance
    reach: Reach
    kept: Sequence[Case]
    ops: Mapping[str, Sequence[Op]]
    traced: bool = False
    text: str = ""
    corpus: Sequence[Case] = ()
    focus: Focus = field(default_factory=Focus)
    conditions: Sequence[str] = ()
    when_kept_are_through: Callable[[], None] = lambda: None
    opening: int = field(init=False)
    _known: dict[int, Case] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _near: NearCases = field(init=False)
    _first: Iterator[Case] = field(init=False)
    _fresh_tests: int = 0

    def __post_init__(self) -> None:
        self._near = NearCases(self.seed, self.guidance, self.focus)
        have = {op for case in self.kept for op in case.graph.rows}
        named = [op for rows in self.focus.rows.values() for op in rows] or list(self.ops.get(DEFAULT, ()))
        lacking = sorted((op for op in named if op.name not in have), key=lambda op: not _names(self.text, op))
        self.opening = len(self.kept) + len(lacking)
        self._first = self._first_cases(lacking)

    def __call__(self, index: int) -> Case | None:
        if self.is_hopeless or self.is_exhausted:
            return None
        with self._lock:
            found = self._known.get(index) or self._next(index)
        return choices(self.seed, index, Stream.DIFF_SIZES).choice(at_each_size(found))

    @property
    def kept_that_reach(self) -> int:
        """How many cases of the corpus have an operator that runs the change."""
        names = self.focus.names
        return sum(not names or not names.isdisjoint(case.graph.rows) for case in self.corpus)

    @property
    def is_hopeless(self) -> bool:
        """Whether the first cases and some fresh ones have not reached the changed code."""
        reach = self.reach
        unchanged = not (reach.reaching or reach.differing)
        return self.traced and unchanged and reach.tests >= self.opening + FRESH_TESTS

    @property
    def is_exhausted(self) -> bool:
        """Whether each class of the operators that run the change ran some times, and each condition of it was met."""
        unmet = any(not self.reach.by_name[condition] for condition in self.conditions)
        if not self.focus.rows or self._fresh_tests < (MOST if unmet else LEAST):
            return False
        return all(self.reach.features[name] >= TIMES for name in list(self._near.classes))

    def _next(self, index: int) -> Case:
        steered = self.reach.is_selective and index % STEERED_OF != 0
        if not steered and (case := next(self._first, None)):
            self._known[index] = case
            return case
        self._fresh_tests += 1
        return self._fresh(index)

    def _first_cases(self, lacking: Sequence[Op]) -> Iterator[Case]:
        yield from self.kept
        singles = filter(None, (self._near.single(op, number) for number, op in enumerate(lacking)))
        if self.focus.rows:
            yield from _in_turns(singles, in_turn(self.corpus, self.focus.names))
        elif self.focus.is_known:
            hinted = {op.name for rows in self.focus.hinted.values() for op in rows}
            known = list(in_turn(self.corpus, hinted))
            others = [case for case in self.corpus if hinted.isdisjoint(case.graph.rows)]
            yield from _in_turns(known, widest_first(others))
            yield from singles
        else:
            yield from singles
            yield from sorted(
                self.corpus, key=lambda case: not any(_names(self.text, TABLE[op]) for op in case.graph.rows)
            )
        self.when_kept_are_through()

    def _fresh(self, index: int) -> Case:
        source = choices(self.seed, index, Stream.DIFF_KIND)
        kind = source.integer(1, 100)
        if kind <= NEAR:
            return self._near_the_change(source, index) or self.guidance.case(index)
        if kind <= NEAR + MUTATED and (case := self.reach.case(source)):
            return mutate(source, case, self.guidance.settings.limits, donor=self._donor(source, case))
        if kind > 100 - FAMILY and self.focus.rows:
            rows = families_of([op for each in self.focus.rows.values() for op in each])
            return self._near.near(source, rows, index) or self.guidance.case(index)
        return self.guidance.case(index)

    def _near_the_change(self, source: ChoiceSource, index: int) -> Case | None:
        """A case of the rows of the focus, of those that it hints at, for a pass, or of operators that reached a rare
        part of the change in the tests."""
        learnt = [TABLE[name] for name in self.reach.operators(source) if name in TABLE]
        choices_of = [list(rows) for rows in (*self.focus.rows.values(), *self.focus.hinted.values()) if rows]
        if self.focus.motifs and not self.focus.rows and source.chance(50):
            return self._near.for_a_pass(index)
        if learnt and (not choices_of or source.chance(40)):
            return self._near.near(source, learnt, index)
        return self._near.near(source, source.choice(choices_of), index) if choices_of else None

    def _donor(self, source: ChoiceSource, case: Case) -> Case | None:
        donor = self.reach.case(source)
        return donor if donor and donor.graph.dialect == case.graph.dialect else None


def _in_turns(*given: Iterator[Case] | Sequence[Case]) -> Iterator[Case]:
    return (case for some in zip_longest(*given) for case in some if case is not None)


def _names(text: str, op: Op) -> bool:
    """Whether a text has the name of an operator as a word of an identifier, also without its underscores."""
    name = re.escape(op.name.partition("-")[0]).replace("_", "_?")
    return re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text, re.IGNORECASE) is not None
