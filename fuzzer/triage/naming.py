"""The final signature of a reduced case, with the evidence that this very case gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fuzzer.lanes import REFERENCES, plain_routes_beside
from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.triage.reproduce import RunLanes, judged_by, judged_run, observe
from generators.graph import Case
from oracles import judge_all
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, LaneSpec

RUNS = 2
"""How often `name` runs the failing lane before it gives up."""


@dataclass(frozen=True, slots=True)
class NamedFailure:
    """`finding` is what the reduced case shows; `lanes` are all lanes that show it."""

    signature: Signature
    finding: Finding
    lanes: tuple[LaneSpec, ...]


def name_failure(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> NamedFailure | None:
    """Run the reduced case on all lanes of interest. Where `lane` does not show the failure in this company, it runs
    once more as it ran in the reduction. None where it does not show the failure then either."""
    lanes = tuple(dict.fromkeys((*REFERENCES, *plain_routes_beside(lane), *judged_by(lane))))
    found = judge_all(case, judged_run(run, case, lanes).outcomes)
    same = {finding.lane: finding for finding in found if _is(finding, signature)}
    finding = _unstable(same.values()) or same.get(lane) or _alone(run, case, lane, signature)
    if finding is None:
        return None
    showing = tuple(each for each in lanes if each in same or each == finding.lane)
    final = replace(signature, kind=finding.kind)
    if final.needs_ops:
        where = _where(showing) if final.component is Component.TVM else ""
        final = final_signature(replace(final, where=where, by=beyond_sibling(finding)), case)
    return NamedFailure(final, finding, showing)


def beyond_sibling(finding: Finding) -> str:
    """What the lane does that the lane it is compared with does not do."""
    return finding.evidence.by if isinstance(finding.evidence, Mismatch) else ""


def _is(finding: Finding, signature: Signature) -> bool:
    return signature.same_failure(signature_of(finding))


def _unstable(findings: Iterable[Finding]) -> Finding | None:
    return next((finding for finding in findings if finding.kind is Kind.UNSTABLE), None)


def _alone(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> Finding | None:
    """What the lane shows when no more lanes run than the failure needs."""
    return next((f for f in observe(run, case, lane, signature).findings if _is(f, signature)), None)


def _where(lanes: Sequence[LaneSpec]) -> str:
    """The importers of the lanes, and the targets where llvm is none of them. Importers are part of the name because
    one importer's bug is not another's."""
    tvm = [lane for lane in lanes if lane.engine is Engine.TVM]
    importers = sorted({lane.importer.value for lane in tvm})
    targets = sorted({lane.target for lane in tvm})
    return "+".join(importers) + ("" if "llvm" in targets or not targets else f" {'+'.join(targets)}")
