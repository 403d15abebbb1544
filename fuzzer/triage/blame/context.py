"""What all who look for somebody to blame share: a finding, and runs of its case on lanes like its own, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzzer.signature import Signature
from fuzzer.triage.reproduce import Observation, RunLanes, observe
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, facts_of
from oracles.reference import Expected, eager_run, expected
from oracles.trace import Trace, Tracing

MOST_RUNS = 25
"""Of a case of one or two operators: some seconds. Most findings take ten."""


class RunLimitReached(Exception):
    """The inquiry has had its runs."""


@dataclass(slots=True)
class BlameContext:
    """`case` is the reduced one, and `finding.lane` shows it."""

    run: RunLanes
    case: Case
    finding: Finding
    signature: Signature
    most: int = MOST_RUNS
    runs: int = 0
    _seen: dict[tuple[LaneSpec, int, bool], LaneObservation] = field(default_factory=dict)

    @property
    def lane(self) -> LaneSpec:
        return self.finding.lane

    def observe(self, lane: LaneSpec, case: Case | None = None, *, fully: bool = False) -> LaneObservation:
        """Each lane is run once on each case: with what the finding's failure needs to be seen, or fully, with all that
        its results can be held against. Raise `Spent`."""
        case = case or self.case
        key = lane, id(case), fully
        if key not in self._seen:
            told = observe(self._counted, case, lane, None if fully else self.signature)
            self._seen[key] = LaneObservation(case, lane, told, self.signature)
        return self._seen[key]

    def traced(self, tracing: Tracing = Tracing()) -> LaneObservation:
        return self.observe(replace(self.lane, tracing=tracing))

    def _counted(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        if self.runs >= self.most:
            raise RunLimitReached
        self.runs += 1
        return self.run(case, lanes)


@dataclass(frozen=True, slots=True)
class LaneObservation:
    """A case on a lane."""

    case: Case
    lane: LaneSpec
    observation: Observation
    signature: Signature

    @property
    def fails(self) -> bool:
        """As the finding does."""
        return self.observation.shows(self.signature)

    @property
    def is_right(self) -> bool:
        """It gives a result, and nobody objects."""
        return isinstance(self.outcome, Ran) and self.observation.finding is None

    @property
    def outcome(self) -> Outcome:
        return self.observation.result.outcomes[self.lane]

    @property
    def trace(self) -> Trace:
        return facts_of(self.outcome).trace or Trace()

    @property
    def expected(self) -> tuple[Expected, ...] | None:
        return expected(self.observation.result.outcomes)

    @property
    def types(self) -> tuple[str, ...]:
        """Of PyTorch's results, as a module would declare them: float32[2, 3]."""
        eager = eager_run(self.observation.result.outcomes)
        return tuple(f"{array.dtype}{list(array.shape)}" for array in eager.outputs) if eager else ()
