"""Does a case still show a failure? Defined once; confirm, reduce and replay all ask this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.lanes import needed
from fuzzer.triage.signature import Signature, signature_of
from generators.graph import Case
from oracles import judge_all
from oracles.finding import Finding, is_eager
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran, Result

Run = Callable[[Case, Sequence[LaneSpec]], Result]
"""`Executor.run`, or a stand-in that keeps the books."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run of a lane (and the references it is judged by) showed."""

    result: Result
    finding: Finding | None

    @property
    def signature(self) -> Signature | None:
        return signature_of(self.finding) if self.finding else None

    @property
    def valid(self) -> bool:
        return is_valid(self.result.outcomes)


def is_valid(outcomes: Outcomes) -> bool:
    """Whether eager PyTorch takes the case."""
    return any(is_eager(spec) and isinstance(out, Ran) for spec, out in outcomes.items())


def observe(run: Run, case: Case, lane: LaneSpec, *, values: bool = True) -> Observation:
    """Run the lane in a fresh child, with what it is judged by; without `values` its results are not compared."""
    lanes = tuple(dict.fromkeys((*needed(lane, values=values), lane)))
    result = run(case, lanes)
    found = (finding for finding in judge_all(case, result.outcomes) if finding.lane == lane)
    return Observation(result, next(found, None))


def reproduces(run: Run, case: Case, lane: LaneSpec, signature: Signature) -> bool:
    """Whether the lane, on this case, fails as `signature` says. The same-failure guard of the reducer."""
    seen = observe(run, case, lane, values=signature.kind.is_numeric).signature
    return seen is not None and signature.same_failure(seen)
