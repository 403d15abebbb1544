"""Whether a case still shows a failure. Confirmation, reduction and replay all use this definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import TORCH_LANES, needed, plain_routes_beside, plain_sibling, readers_of
from fuzzer.signature import Signature, signature_of
from fuzzer.system.environment import MachineLacks
from fuzzer.triage.measured_again import measured_again
from fuzzer.triage.undisturbed import joined, lack_of, undisturbed
from generators.graph import Case
from generators.table import TABLE
from oracles.against_export import disputed_programs
from oracles.against_onnxruntime import disputed_files
from oracles.finding import OTHER_LANES, Finding, Kind
from oracles.judge import judge_all, judges_of_kernels, unconfirmed_files
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcomes, Result, Stage
from oracles.reference import eager_run


@dataclass(frozen=True, slots=True)
class Observation:
    """One run of a lane and of the lanes that judge it. `findings` are all findings on the lane."""

    result: Result
    findings: tuple[Finding, ...]

    @property
    def finding(self) -> Finding | None:
        """The first finding, if there is one."""
        return self.findings[0] if self.findings else None

    @property
    def valid(self) -> bool:
        """Whether eager PyTorch accepts the case."""
        return is_valid(self.result.outcomes)

    @property
    def lack(self) -> str:
        """What the machine lacked for one of the lanes, also when they ran again; "" where it lacked nothing. What this
        run does not show is no evidence then."""
        return lack_of(self.result.outcomes)

    def shows(self, signature: Signature) -> bool:
        """Return whether one of the findings is the failure with this signature."""
        return any(signature.same_failure(signature_of(finding)) for finding in self.findings)


def is_valid(outcomes: Outcomes) -> bool:
    """Return whether eager PyTorch accepts the case."""
    return eager_run(outcomes) is not None


def observe(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature | None = None) -> Observation:
    """Run the lane with the lanes that judge it. With a signature, only the lanes that this failure needs are run."""
    result = judged_run(undisturbed(run), case, judged_by(lane, signature))
    return Observation(result, tuple(f for f in judge_all(case, result.outcomes) if f.lane == lane))


def as_run_on(lane: LaneSpec, case: Case) -> Case:
    """Return the case with static sizes, which every pass can reduce, unless the lane compiles it for all sizes."""
    return case.at(case.sizes) if case.graph.symbols and not lane.symbolic else case


def up_to_failure(run: RunLanes, signature: Signature) -> RunLanes:
    """Return `run` with lanes of TVM that end after the stage of a failure with a message. All others run to their end.

    An outcome of a shortened lane is stored under the lane that was asked for.
    """
    until = _last_stage(signature)
    if until is None:
        return run

    def shortened_run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        originals = {ended_after(lane, until): lane for lane in lanes}
        result = run(case, tuple(originals))
        return replace(
            result, outcomes={originals.get(lane, lane): outcome for lane, outcome in result.outcomes.items()}
        )

    return shortened_run


def _last_stage(signature: Signature) -> Stage | None:
    """Return the last stage that a lane needs to show a failure, or None for all. A pass can run in two stages."""
    if not signature.error or signature.stage in (Stage.LOAD, Stage.RUN):
        return None
    return Stage.COMPILE if signature.stage is Stage.TRANSFORM else signature.stage


def ended_after(lane: LaneSpec, stage: Stage) -> LaneSpec:
    """The lane that ends after a stage, where it goes through its stages one after the other; else the lane itself.
    torch.compile calls the importer while it runs."""
    in_turn = lane.engine is Engine.TVM and lane.variant == "relax" and lane.importer.row.reads.is_one_graph
    return replace(lane, until=stage) if in_turn else lane


def judged_by(lane: LaneSpec, signature: Signature | None = None) -> tuple[LaneSpec, ...]:
    """Return the lanes that are needed to judge the lane, for one failure or for all, and then the lane itself."""
    compared = signature is None or bool(signature.against) or signature.kind in _AGAINST_OTHERS
    values = signature is None or signature.kind.is_numeric
    siblings = [plain_sibling(lane)] if compared else []
    majority = signature and (signature.kind in _AGAINST_OTHERS or signature.against == OTHER_LANES)
    others = plain_routes_beside(lane) if majority else ()
    lanes = (*needed(lane, values=values), *(each for each in siblings if each), *others, lane)
    return tuple(dict.fromkeys(lanes))


_AGAINST_OTHERS = (Kind.BLOAT, Kind.SLOW)


def judged_run(run: RunLanes, case: Case, lanes: Sequence[LaneSpec]) -> Result:
    """Run the lanes, and in a second run other readers of exported files and programs, and the judges of kernels, where
    these are needed."""
    return settled(run, case, run(case, lanes))


def settled(run: RunLanes, case: Case, result: Result) -> Result:
    """Run other readers of exported files and programs, and the judges of kernels, where these are needed to judge a
    result, and the compiled lanes again where one of them is slow.

    Readers are needed if a lane and PyTorch disagree about an exported file or program, or if TVM would be blamed for a
    file that no other reader has confirmed. Judges of kernels are needed if a lane fails that a driver runs.
    """
    result = measured_again(run, case, result)
    outcomes = result.outcomes
    files = (*disputed_files(outcomes), *unconfirmed_files(case, outcomes))
    disputed = (*files, *disputed_programs(outcomes))
    kernels = judges_of_kernels(case, outcomes)
    if not disputed and not kernels:
        return result
    judges = [lane for lane in TORCH_LANES if files and lane not in outcomes]
    readers = dict.fromkeys(reader for each in disputed for reader in readers_of(each))
    return joined(result, run(case, [*judges, *readers, *kernels]))


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Whether a case shows a failure on a lane. If the case is valid, `findings` are all findings on the lane."""

    same: bool
    findings: tuple[Finding, ...] = ()


def try_to_reproduce(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> Reproduction:
    """Run the lane, and compare its findings with the signature. A case that PyTorch refuses, or that declares other
    types than the reference gives, shows no failure. Raise `MachineLacks` where it shows none because the machine
    lacked something."""
    observation = observe(run, case, lane, signature)
    if observation.lack and not observation.shows(signature):
        raise MachineLacks(observation.lack)
    if not gives_declared_types(case, observation.result.outcomes):
        return Reproduction(False)
    return Reproduction(observation.shows(signature), observation.findings)


def try_candidate(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> Reproduction:
    """Like `try_to_reproduce`, for a proposal that nothing depends on: one that the machine could not run is not
    taken."""
    try:
        return try_to_reproduce(run, case, lane, signature)
    except MachineLacks:
        return Reproduction(False)


def gives_declared_types(case: Case, outcomes: Outcomes) -> bool:
    """Return whether the reference accepts the case, and gives the types that it declares. Those of a call without a
    row are inferred by no rule, so that a case with smaller inputs may declare others."""
    eager = eager_run(outcomes)
    if eager is None or not any(TABLE[node.op].unlisted for node in case.graph.nodes):
        return eager is not None
    given = [(array.shape, array.dtype) for array in eager.outputs]
    return given == [(type.sizes, type.dtype.numpy) for type in case.bound.output_types]


def reproduces(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> bool:
    """Return whether the lane shows the failure on this case. Raise `MachineLacks` as `try_to_reproduce` does."""
    return try_to_reproduce(run, case, lane, signature).same
