"""The context of a search for blame: a finding, and a limited number of runs of its case on similar lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.signature import Signature
from fuzzer.system.environment import MachineLacks
from fuzzer.triage.reproduce import Observation, observe
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Ran, Result, facts_of
from oracles.reference import Expected, eager_run, expected
from oracles.trace import AS_IMPORTED, Trace, Tracing

MOST_RUNS = 25
"""The limit of runs for one finding. For a case of one or two operators they take some seconds. Most need ten runs."""


WHOLE = Tracing(show=AS_IMPORTED)
"""All passes run, and the text of the imported module is recorded, which most searches need."""


def traced_fully(lane: LaneSpec) -> LaneSpec:
    """Return the lane as `BlameContext.traced` runs it."""
    return replace(lane, tracing=WHOLE)


class RunLimitReached(Exception):
    """The search has used up its runs."""


@dataclass(slots=True)
class BlameContext:
    """A finding, its reduced case, and the runs made so far. `most` is the limit of runs."""

    run: RunLanes
    case: Case
    finding: Finding
    signature: Signature
    most: int = MOST_RUNS
    runs: int = 0
    _observations: dict[tuple[LaneSpec, int, bool], LaneObservation] = field(default_factory=dict)

    @property
    def lane(self) -> LaneSpec:
        return self.finding.lane

    def observe(self, lane: LaneSpec, case: Case | None = None, *, fully: bool = False) -> LaneObservation:
        """Run a case on a lane, once for equal arguments. Raise `RunLimitReached`.

        The lane runs with the lanes that the finding's failure needs, or, if `fully`, with all that can judge it. Raise
        `MachineLacks` where the machine lacks something for the finding's target, which ran before.
        """
        case = case or self.case
        key = lane, id(case), fully
        if key not in self._observations:
            observation = observe(self.counted_run, case, lane, None if fully else self.signature)
            ran_before = (lane.target, lane.toolchain) == (self.lane.target, self.lane.toolchain)
            if observation.lack and ran_before and not observation.shows(self.signature):
                raise MachineLacks(observation.lack)
            self._observations[key] = LaneObservation(case, lane, observation, self.signature)
        return self._observations[key]

    def remember(self, lane: LaneSpec, observation: Observation) -> None:
        """Use the result of a run of the finding's case in which all lanes ran that judge the lane."""
        known = LaneObservation(self.case, lane, observation, self.signature)
        self._observations |= {(lane, id(self.case), fully): known for fully in (False, True)}

    def traced(self, tracing: Tracing = WHOLE) -> LaneObservation:
        """Run the case on the finding's lane, and record its passes and converters."""
        return self.observe(replace(self.lane, tracing=tracing))

    def counted_run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        """Run lanes of a case. Raise `RunLimitReached`."""
        if self.runs >= self.most:
            raise RunLimitReached
        self.runs += 1
        return self.run(case, lanes)


@dataclass(frozen=True, slots=True)
class LaneObservation:
    """One run of a case on a lane, compared with the signature of the finding."""

    case: Case
    lane: LaneSpec
    observation: Observation
    signature: Signature

    @property
    def fails(self) -> bool:
        """Whether the lane fails in the same way as the finding."""
        return self.observation.shows(self.signature)

    @property
    def is_right(self) -> bool:
        """Whether the lane gives a result and no oracle objects."""
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
        """The types of PyTorch's results, in the notation of a trace: float32[2, 3]."""
        eager = eager_run(self.observation.result.outcomes)
        return tuple(f"{array.dtype}{list(array.shape)}" for array in eager.outputs) if eager else ()
