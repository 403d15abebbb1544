"""Check candidates with the predicate: each once, and some before their turn if there are spare cores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType

from fuzzer.triage.reducers import Reducer, Subject
from fuzzer.triage.reproduce import Reproduction
from generators import case_file
from generators.graph import Case
from generators.renumber import renumbered
from oracles.lane import LaneSpec

Predicate = Callable[[Case, LaneSpec], Reproduction]
Key = tuple[str, LaneSpec]


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits of a reduction: calls of the predicate, and seconds of `clock`, by default the wall's.

    A reduction that reaches its limit of seconds may give another result next time. Where it `is_part`, its seconds are
    for a case of several calls, which goes on later: what has one call ends without that limit.
    """

    calls: int = 150
    seconds: float = 120.0
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A smaller subject, and the reducer that proposes it."""

    by: Reducer
    subject: Subject

    @property
    def key(self) -> Key:
        return key_of(self.subject)


def key_of(subject: Subject) -> Key:
    """Return a key that does not depend on the names in the graph."""
    return case_file.digest(renumbered(subject.case)), subject.lane


class EffortUsedUp(Exception):
    """A limit of the reduction is reached."""


class CandidateChecks:
    """Calls the predicate on candidates in a fixed order, `width` calls at a time.

    Results are kept by the hash of the case under standard names, and the lane. If `width` is more than 1, the
    predicate is called on the next candidates before it is known whether they are needed. Results are used in order.
    Therefore `width` changes only the time and the number of calls that are not needed (`ahead`).
    """

    def __init__(self, predicate: Predicate, effort: Effort, width: int) -> None:
        self._predicate, self._effort, self._width = predicate, effort, width
        self._deadline = effort.clock() + effort.seconds
        self._known: dict[Key, Reproduction] = {}
        self._running: dict[Key, Future[Reproduction]] = {}
        self._ends_now = False
        self._pool = ThreadPoolExecutor(width, "reducer") if width > 1 else None
        self._started = 0
        self.calls = 0
        """How many calls were needed."""

    def __enter__(self) -> CandidateChecks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._started -= sum(call.cancelled() for call in self._running.values())

    @property
    def ahead(self) -> int:
        """How many calls were made before their turn and not needed."""
        return self._started - self.calls

    @property
    def exhausted(self) -> bool:
        """Whether a limit is reached."""
        return self.calls >= self._effort.calls or (self.is_late and not self._ends_now)

    @property
    def is_late(self) -> bool:
        """Whether the limit of the seconds is reached."""
        return self._effort.clock() > self._deadline

    def results(
        self, candidates: Iterable[Candidate], *, of_one_call: bool = False
    ) -> Iterator[tuple[Candidate, Reproduction]]:
        """Yield each candidate with its result, in order. Raise `EffortUsedUp` if the next call exceeds a limit. They
        are `of_one_call` where the case that they make smaller has no other."""
        self._ends_now = of_one_call and self._effort.is_part
        source, waiting = iter(candidates), deque[tuple[Candidate, Key]]()
        while True:
            while len(waiting) < self._width and (candidate := next(source, None)) is not None:
                waiting.append((candidate, candidate.key))
                self._start_early(*waiting[-1])
            if not waiting:
                return
            candidate, key = waiting.popleft()
            yield candidate, self._result(candidate.subject, key)

    def repeat(self, subject: Subject) -> Reproduction:
        """Call the predicate even if there is a result, and keep the new one. The limits do not apply."""
        return self._call(subject, key_of(subject))

    def reject(self, subject: Subject) -> None:
        """Treat the subject from now on as one that does not show the failure."""
        self._known[key_of(subject)] = Reproduction(False)

    def _result(self, subject: Subject, key: Key) -> Reproduction:
        if key in self._known:
            return self._known[key]
        if self.exhausted:
            raise EffortUsedUp
        return self._call(subject, key)

    def _call(self, subject: Subject, key: Key) -> Reproduction:
        self.calls += 1
        running = self._running.pop(key, None)
        if running is None:
            self._started += 1
        result = running.result() if running else self._predicate(subject.case, subject.lane)
        self._known[key] = result
        return result

    def _start_early(self, candidate: Candidate, key: Key) -> None:
        if self._pool is None or self.exhausted or key in self._known or key in self._running:
            return
        self._started += 1
        self._running[key] = self._pool.submit(self._predicate, candidate.subject.case, candidate.subject.lane)
