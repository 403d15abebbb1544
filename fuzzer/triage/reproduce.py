"""Does a case still show a failure? Defined once; confirm, reduce and replay all ask this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzzer.lanes import EVERY_ROAD, TORCH_LANES, needed, plain_roads_beside, readers_of
from fuzzer.triage.signature import Signature, signature_of
from generators.graph import Case
from oracles import files_in_doubt, judge_all
from oracles.against_export import programs_in_doubt
from oracles.against_onnxruntime import in_doubt
from oracles.agreement import THE_OTHERS
from oracles.finding import Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Result
from oracles.reference import eager_run
from oracles.siblings import sibling

Run = Callable[[Case, Sequence[LaneSpec]], Result]
"""`Executor.run`, or a stand-in that keeps the books."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run of a lane (and of those it is judged by) showed."""

    result: Result
    findings: tuple[Finding, ...]

    @property
    def finding(self) -> Finding | None:
        return self.findings[0] if self.findings else None

    @property
    def valid(self) -> bool:
        return is_valid(self.result.outcomes)

    def shows(self, signature: Signature) -> bool:
        return any(signature.same_failure(signature_of(finding)) for finding in self.findings)


def is_valid(outcomes: Outcomes) -> bool:
    """Whether eager PyTorch takes the case."""
    return eager_run(outcomes) is not None


def observe(run: Run, case: Case, lane: LaneSpec, signature: Signature | None = None) -> Observation:
    """Run the lane in a fresh child, with what it is judged by; where only one failure is asked for, with no more than
    that needs."""
    result = judged_run(run, case, judged_by(lane, signature))
    return Observation(result, tuple(f for f in judge_all(case, result.outcomes) if f.lane == lane))


def judged_by(lane: LaneSpec, signature: Signature | None = None) -> tuple[LaneSpec, ...]:
    """The lane after all lanes without which it cannot be judged."""
    company = signature is None or bool(signature.against) or signature.kind in _AGAINST_OTHERS
    values = signature is None or signature.kind.is_numeric
    beside = [sibling(lane, there(EVERY_ROAD, lane))] if company else []
    voters = signature and (signature.kind in _AGAINST_OTHERS or signature.against == THE_OTHERS)
    others = plain_roads_beside(lane) if voters else ()
    wanted = (*needed(lane, values=values), *(other for other in beside if other), *others, lane)
    return tuple(dict.fromkeys(wanted))


_AGAINST_OTHERS = (Kind.BLOAT, Kind.SLOW)


def there(lanes: Sequence[LaneSpec], lane: LaneSpec) -> tuple[LaneSpec, ...]:
    """The same roads in the toolchain of a lane."""
    return tuple(replace(each, toolchain=lane.toolchain) for each in lanes)


def judged_run(run: Run, case: Case, lanes: Sequence[LaneSpec]) -> Result:
    """One run and, where somebody disagrees with PyTorch on a file or program that was exported, or TVM would be blamed
    for a file, a second one that asks the other readers of it, and what these are judged by."""
    result = run(case, lanes)
    outcomes = result.outcomes
    files = (*in_doubt(outcomes), *files_in_doubt(case, outcomes))
    doubts = (*files, *programs_in_doubt(outcomes))
    if not doubts:
        return result
    judges = [lane for lane in TORCH_LANES if files and lane not in outcomes]
    readers = dict.fromkeys(reader for doubt in doubts for reader in readers_of(doubt))
    more = run(case, [*judges, *readers])
    spent = {stage: result.stage_cpu.get(stage, 0.0) + seconds for stage, seconds in more.stage_cpu.items()}
    return Result(
        {**result.outcomes, **more.outcomes}, {**result.stage_cpu, **spent}, result.cpu_seconds + more.cpu_seconds
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a case and lane show one failure; and all that is wrong with the lane, where the case is valid."""

    same: bool
    findings: tuple[Finding, ...] = ()


def asked(run: Run, case: Case, lane: LaneSpec, signature: Signature) -> Answer:
    """Run it and say; of a case that PyTorch itself refuses, nothing, whatever a compiler makes of it. What else is
    wrong is seen as far as this one failure needs it run."""
    seen = observe(run, case, lane, signature)
    return Answer(seen.shows(signature), seen.findings) if seen.valid else Answer(False)


def reproduces(run: Run, case: Case, lane: LaneSpec, signature: Signature) -> bool:
    """Whether the lane, on this case, fails as `signature` says: the same-failure guard of all that changes a case."""
    return asked(run, case, lane, signature).same
