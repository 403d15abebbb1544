"""Make the final signature of a reduced case, with the evidence of this case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import plain_routes_beside, references_of
from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.system.environment import MachineLacks
from fuzzer.triage.blame.context import traced_fully
from fuzzer.triage.reproduce import Observation, judged_by, judged_run, observe, up_to_failure
from fuzzer.triage.undisturbed import undisturbed
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcome, Outcomes, Result

RUNS = 2
"""How often `name` runs the failing lane before it gives up."""


@dataclass(frozen=True, slots=True)
class NamedFailure:
    """The final signature, the finding that the reduced case shows, and all lanes that show it.

    observed  what the run showed on the reduced lane, plain and traced, so that blame need not run these again; empty
              if nothing was traced, or if this run did not show the failure
    """

    signature: Signature
    finding: Finding
    lanes: tuple[LaneSpec, ...]
    observed: Mapping[LaneSpec, Observation] = field(default_factory=dict)


def name_failure(
    run: RunLanes, case: Case, lane: LaneSpec, signature: Signature, *, traced: bool = False
) -> NamedFailure | None:
    """Run the reduced case on the references, on `lane` and the lanes that judge it, and on each importer's plain lane.

    If `lane` does not show the failure in this run, it runs once more with the lanes of the reduction. If it does not
    show the failure then either, return None, or raise `MachineLacks` where the machine lacked something. With
    `traced`, the lane also runs as blame traces it, after all others.

    Lanes end with the failure, except for an ill-formed module: what follows it is a part of the finding.
    """
    if signature.kind is not Kind.ILL_FORMED:
        run = up_to_failure(run, signature)
    references = references_of(case.graph.dialect)
    lanes = tuple(dict.fromkeys((*references, *plain_routes_beside(lane), *judged_by(lane))))
    tracing = (traced_fully(lane),) if traced else ()
    result = judged_run(undisturbed(run), case, (*lanes, *tracing))
    found = judge_all(case, _without(result.outcomes, tracing))
    same = {finding.lane: finding for finding in found if _shows(finding, signature)}
    finding = same.get(lane) or _run_again(run, case, lane, signature)
    if finding is None:
        return None
    both_runs = (lane, *tracing) if tracing and lane in same else ()
    observed = {each: _observed(case, lane, each, result) for each in both_runs}
    showing = tuple(each for each in lanes if each in same or each == finding.lane)
    final = replace(signature, kind=finding.kind)
    if final.needs_ops:
        where = _where(showing) if final.component is Component.TVM else ""
        final = final_signature(replace(final, where=where, by=beyond_sibling(finding)), case)
    return NamedFailure(final, finding, showing, observed)


def _observed(case: Case, lane: LaneSpec, as_run: LaneSpec, result: Result) -> Observation:
    """Return what the lane did in one of its two runs. The other is left out: it would count as another lane."""
    others = [traced_fully(lane) if as_run == lane else lane]
    outcomes = _without(result.outcomes, others)
    findings = tuple(finding for finding in judge_all(case, outcomes) if finding.lane == as_run)
    return Observation(replace(result, outcomes=outcomes), findings)


def _without(outcomes: Outcomes, lanes: Iterable[LaneSpec]) -> dict[LaneSpec, Outcome]:
    return {lane: outcome for lane, outcome in outcomes.items() if lane not in lanes}


def beyond_sibling(finding: Finding) -> str:
    """Return what the lane does beyond its plain sibling, or "" if it was not compared with the sibling."""
    return finding.evidence.by if isinstance(finding.evidence, Mismatch) else ""


def _shows(finding: Finding, signature: Signature) -> bool:
    return signature.same_failure(signature_of(finding))


def _run_again(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> Finding | None:
    """Return the failure on the lane, run with only those lanes that this failure needs."""
    observation = observe(run, case, lane, signature)
    found = next((finding for finding in observation.findings if _shows(finding, signature)), None)
    if found is None and observation.lack:
        raise MachineLacks(observation.lack)
    return found


def _where(lanes: Sequence[LaneSpec]) -> str:
    """Return the importers of the lanes, and their targets if llvm is not among them."""
    tvm = [lane for lane in lanes if lane.engine is Engine.TVM]
    importers = sorted({lane.importer.value for lane in tvm})
    targets = sorted({lane.target for lane in tvm})
    return "+".join(importers) + ("" if "llvm" in targets or not targets else f" {'+'.join(targets)}")
