"""Finds what a failure needs: asks which cases near the reduced one fail, and looks for the plainest statement.

It is active learning: of many cases, the one is run next about which the plainest statements disagree most (Seung,
Opper and Sompolinsky, "Query by Committee", COLT 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuzzer.triage.scope.hypotheses import cost_of, statements
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Answer, Hits, Properties, Statement
from generators import case_file
from generators.graph import Case

Ask = Callable[[Case], Answer]

Near = Callable[[Sequence[Case], int], Iterable[Case]]
"""Returns at most this many cases near given ones."""

COMMITTEE = 8
"""How many of the plainest statements vote."""

POOL, FRESH = 60, 8
"""How many cases they vote about, and how many of them are drawn anew for each question: drawing all of them anew takes
longer than many a run."""

HELD_OUT = 20
"""How many cases on each side of a statement confirm it."""

POOLS_OF_HELD_OUT = 6
"""How many pools are looked through for cases on a side."""

QUIET, QUIET_WITHOUT_PASSES = 8, 30
"""A search ends when this many answers in turn were as the plainest statement says."""

ASKED_AGAIN, MOST_BY_CHANCE = 2, 0.1
"""How often a case is asked again that passes perhaps by chance, and how many such cases there may be for each one that
fails."""

LAST_PASSES = 12
"""New cases are near those that fail, and near the last ones that pass."""


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no plain equality
class Answered:
    case: Case
    properties: Properties
    answer: Answer


class Answers:
    """All cases that were asked. `used` returns which part of the effort that number of questions has used, from 0 to
    1. Without `with_numbers`, all cases have usual numbers, and no statement is about numbers.

    `with_other_numbers` is given where a result may be right by chance. Then a case that passes against the plainest
    statement is asked again with other numbers. If no statement fits all answers, a few passes count as chance.
    """

    def __init__(
        self,
        ask: Ask,
        used: Callable[[int], float],
        *,
        with_numbers: bool = True,
        with_other_numbers: Callable[[Case], Case] | None = None,
    ) -> None:
        self._ask, self._used, self.with_numbers = ask, used, with_numbers
        self._with_other_numbers = with_other_numbers
        self._answered: dict[str, Answered] = {}
        self._by_chance: list[Answered] = []
        self._statements: list[Statement] | None = None

    def about(self, case: Case) -> Answer:
        key = case_file.digest(case)
        if key not in self._answered:
            answer = self._ask(case)
            if answer is Answer.PASSES and self._fails_with_other_numbers(case):
                answer = Answer.FAILS
            self.record(case, answer)
        return self._answered[key].answer

    def _fails_with_other_numbers(self, case: Case) -> bool:
        """Whether a case that passes does so by chance. Asked only where the plainest statement says that it fails."""
        if self._with_other_numbers is None or not self.that(Answer.FAILS):
            return False
        plainest = next(iter(self.statements()), None)
        if plainest is None or not plainest.holds(self.properties_of(case)):
            return False
        return any(self._ask(self._with_other_numbers(case)) is Answer.FAILS for _ in range(ASKED_AGAIN))

    def record(self, case: Case, answer: Answer) -> None:
        """Take in an answer that is known already."""
        self._answered[case_file.digest(case)] = Answered(case, self.properties_of(case), answer)
        self._statements = None

    def properties_of(self, case: Case) -> Properties:
        return properties(case, with_numbers=self.with_numbers)

    def knows(self, case: Case) -> bool:
        return self.has(case_file.digest(case))

    def has(self, digest: str) -> bool:
        return digest in self._answered

    @property
    def count(self) -> int:
        return len(self._answered)

    def used(self) -> float:
        return self._used(len(self._answered))

    @property
    def all(self) -> list[Answered]:
        return list(self._answered.values())

    def that(self, answer: Answer) -> list[Answered]:
        return [each for each in self._answered.values() if each.answer is answer]

    def by_chance(self, statement: Statement) -> int:
        """How many cases pass against the statement, which count as chance."""
        return sum(statement.holds(each.properties) for each in self._by_chance)

    def statements(self) -> list[Statement]:
        """The plainest statements that fit all answers but those that count as chance."""
        if self._statements is None:
            self._statements = self._that_fit()
        return self._statements

    def _that_fit(self) -> list[Statement]:
        fails = [each.properties for each in self.that(Answer.FAILS)]
        passes = [each for each in self.that(Answer.PASSES) if each not in self._by_chance]
        found = statements(fails, [each.properties for each in passes], COMMITTEE)
        if found or self._with_other_numbers is None or len(self._by_chance) >= len(fails) * MOST_BY_CHANCE:
            return found
        for odd in reversed(passes):
            found = statements(fails, [each.properties for each in passes if each is not odd], COMMITTEE)
            if found:
                self._by_chance.append(odd)
                break
        return found


def learn(near: Near, answers: Answers, first: Sequence[Case] = (), until: float = 1.0) -> Statement | None:
    """Ask until the plainest statement is right about all cases for a while, or until this part of the effort is used.
    The cases `first` are asked about before others that say as much. Return the plainest statement; None where no
    statement fits."""
    quiet, pool = 0, _Pool(near, answers, first)
    while answers.used() < until and quiet < (QUIET if answers.that(Answer.PASSES) else QUIET_WITHOUT_PASSES):
        committee = answers.statements()
        pool.renew()
        if not pool.cases:
            break
        disputed = _most_disputed(committee, pool.cases)
        quiet += disputed is None
        chosen = disputed or pool.cases[-1]
        answer = answers.about(chosen.case)
        if not committee or contradicts(committee[0], chosen.properties, answer):
            quiet = 0
    found = answers.statements()
    return found[0] if found else None


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    case: Case
    properties: Properties
    digest: str


class _Pool:
    """The cases that the committee votes about: `first`, and those drawn last."""

    def __init__(self, near: Near, answers: Answers, first: Sequence[Case]) -> None:
        self._near, self._answers = near, answers
        self._first = [self._candidate(case) for case in first]
        self._drawn: list[_Candidate] = []

    @property
    def cases(self) -> list[_Candidate]:
        return [*self._first, *self._drawn]

    def renew(self) -> None:
        """Leave out what was asked, and draw new cases near those that are known by now."""
        count = FRESH if self._drawn else POOL
        self._drawn += map(self._candidate, _new_cases(self._near, self._answers, count))
        self._first, self._drawn = self._unanswered(self._first), self._unanswered(self._drawn)[-POOL:]

    def _unanswered(self, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        return [each for each in candidates if not self._answers.has(each.digest)]

    def _candidate(self, case: Case) -> _Candidate:
        return _Candidate(case, self._answers.properties_of(case), case_file.digest(case))


def _new_cases(near: Near, answers: Answers, count: int = POOL) -> Iterator[Case]:
    known = [each.case for each in (*answers.that(Answer.FAILS), *answers.that(Answer.PASSES)[-LAST_PASSES:])]
    return (case for case in near(known, count) if not answers.knows(case))


def contradicts(statement: Statement, case: Properties, answer: Answer) -> bool:
    """Whether the answer about a case is not what the statement says."""
    return answer.decides and statement.holds(case) is not (answer is Answer.FAILS)


def _most_disputed(committee: Sequence[Statement], pool: Iterable[_Candidate]) -> _Candidate | None:
    """Return the case about which most statements disagree, plain statements first; None where they all agree."""
    best, most = None, 0.0
    for candidate in pool:
        votes = [(each.holds(candidate.properties), 1.0 / max(cost_of(each), 1.0)) for each in committee]
        disputed = min(sum(weight for holds, weight in votes if holds is side) for side in (True, False))
        if disputed > most:
            best, most = candidate, disputed
    return best


def confirmed(
    near: Near, answers: Answers, statement: Statement, until: tuple[float, float] = (1.0, 1.0)
) -> tuple[Hits, Hits]:
    """Ask about random new cases inside and outside the statement, and count for how many it is right. Cases that do
    not decide count as nothing. Each side stops at a contradiction, and where this part of the effort is used."""
    inside, outside = until
    return (
        _hits(near, answers, statement, inside, inside=True),
        _hits(near, answers, statement, outside, inside=False),
    )


def _hits(near: Near, answers: Answers, statement: Statement, until: float, *, inside: bool) -> Hits:
    right = of = 0
    for _ in range(POOLS_OF_HELD_OUT):
        for case in _new_cases(near, answers):
            if of >= HELD_OUT or answers.used() >= until or right < of:
                return Hits(right, of)
            found = answers.properties_of(case)
            if statement.holds(found) is inside and not answers.knows(case):
                answer = answers.about(case)
                of += answer.decides
                right += answer.decides and not contradicts(statement, found, answer)
    return Hits(right, of)
