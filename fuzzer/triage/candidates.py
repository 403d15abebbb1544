"""Asks the predicate about candidates: about each once, and about some ahead of their turn if there are spare cores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

from fuzzer.triage.passes import Pass, Subject
from fuzzer.triage.reproduce import Reproduction
from generators import case_file
from generators.graph import Case
from generators.renumber import renumbered
from oracles.lane import LaneSpec

Predicate = Callable[[Case, LaneSpec], Reproduction]
Key = tuple[str, LaneSpec]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a reduction may cost: calls of the predicate, and wall seconds. A reduction that uses up one of them may
    give another result next time."""

    calls: int = 150
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A smaller subject, and the pass that proposes it."""

    by: Pass
    subject: Subject

    @property
    def key(self) -> Key:
        return key_of(self.subject)


def key_of(subject: Subject) -> Key:
    return case_file.digest(renumbered(subject.case)), subject.lane


class EffortUsedUp(Exception):
    """The effort is used up."""


class CandidateChecks:
    """Asks in a fixed order. `width` is how many questions run at the same time.

    Answers are kept by the hash of the case under standard names, and the lane. If `width` is more than 1, the
    predicate is called on the next candidates before it is known whether they are needed. Each answer counts in its
    turn only. So `width` changes the time, and how many questions are not needed (`ahead`), and nothing else.
    """

    def __init__(self, predicate: Predicate, effort: Effort, width: int = 1) -> None:
        self._predicate, self._effort, self._width = predicate, effort, width
        self._deadline = time.monotonic() + effort.seconds
        self._known: dict[Key, Reproduction] = {}
        self._running: dict[Key, Future[Reproduction]] = {}
        self._pool = ThreadPoolExecutor(width, "reducer") if width > 1 else None
        self._started = 0
        self.calls = 0
        """How many questions were needed."""

    def __enter__(self) -> CandidateChecks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._started -= sum(question.cancelled() for question in self._running.values())

    @property
    def ahead(self) -> int:
        """How many questions were asked ahead of their turn and not needed."""
        return self._started - self.calls

    @property
    def spent(self) -> bool:
        return self.calls >= self._effort.calls or time.monotonic() > self._deadline

    def answers(self, candidates: Iterable[Candidate]) -> Iterator[tuple[Candidate, Reproduction]]:
        """Each candidate in its turn, with its answer. Raise `Spent` if the effort does not suffice for the next
        question."""
        source, waiting = iter(candidates), deque[tuple[Candidate, Key]]()
        while True:
            while len(waiting) < self._width and (candidate := next(source, None)) is not None:
                waiting.append((candidate, candidate.key))
                self._ask_ahead(*waiting[-1])
            if not waiting:
                return
            candidate, key = waiting.popleft()
            yield candidate, self._answer(candidate.subject, key)

    def again(self, subject: Subject) -> Reproduction:
        """Ask even if there is an answer, and keep the new one. The effort does not bound this."""
        return self._ask(subject, key_of(subject))

    def reject(self, subject: Subject) -> None:
        """Answer no from now on."""
        self._known[key_of(subject)] = Reproduction(False)

    def _answer(self, subject: Subject, key: Key) -> Reproduction:
        if key in self._known:
            return self._known[key]
        if self.spent:
            raise EffortUsedUp
        return self._ask(subject, key)

    def _ask(self, subject: Subject, key: Key) -> Reproduction:
        self.calls += 1
        running = self._running.pop(key, None)
        if running is None:
            self._started += 1
        answer = running.result() if running else self._predicate(subject.case, subject.lane)
        self._known[key] = answer
        return answer

    def _ask_ahead(self, candidate: Candidate, key: Key) -> None:
        if self._pool is None or self.spent or key in self._known or key in self._running:
            return
        self._started += 1
        self._running[key] = self._pool.submit(self._predicate, candidate.subject.case, candidate.subject.lane)
