"""Records of findings made by hand: what reports are written from."""

from __future__ import annotations

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, record_of
from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_BLAME, NO_RELEASES, Blame, Releases
from fuzzer.triage.investigate import Investigated
from generators.graph import Case
from generators.onnx.model import OnnxModel
from oracles.finding import Component, Evidence, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Died, Raised, Stage, TimedOut

VERSIONS = {"python": "3.11.7", "torch": "2.13.0", "tvm": "0.27.0"}


def record(
    case: Case,
    kind: Kind,
    lane: LaneSpec,
    evidence: Evidence,
    *,
    component: Component = Component.TVM,
    stage: Stage | None = None,
    onnx: OnnxModel | None = None,
    blame: Blame = NO_BLAME,
    releases: Releases = NO_RELEASES,
) -> FindingRecord:
    """As a campaign would save it. The stage is the evidence's, where that has one."""
    own = evidence.stage if isinstance(evidence, Raised | Died | TimedOut) else Stage.RUN
    finding = Finding(kind, component, lane, stage or own, evidence)
    found = Investigated(
        signature_of(finding),
        finding,
        case,
        (lane.name,),
        3,
        3,
        case.graph.ops,
        None,
        blame=blame,
        releases=releases,
        onnx=onnx,
    )
    return record_of(found, finding_file.document(found, VERSIONS))
