"""Sightings that are made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from graphs_by_hand import case_of

from fuzzer.campaign.triage import waiting_item
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.triage.investigate import Sighting
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.outcome import Frame, Raised, Stage

FRAMES = (Frame("/project/src/target/codegen_c.cc", 7, "tvm::codegen::CodeGenC::VisitExpr_(tvm::Call)"),)
ERF = Suspect(("erf",), "erf of float32; rank 1", Certainty.SEEN)
ABS = Suspect(("abs",), "abs of float32; rank 1", Certainty.SEEN)


def chain(*ops: str) -> Case:
    names = ["x0", *(f"v{i}" for i in range(len(ops)))]
    return case_of({"x0": "float32[2]"}, [(names[i + 1], op, names[i]) for i, op in enumerate(ops)], names[-1])


def sighting(finding: Finding) -> Sighting:
    return Sighting(signature_of(finding), finding, (finding.lane,))


def raised(message: str, component: Component = Component.TVM, frames: Sequence[Frame] = FRAMES) -> Sighting:
    evidence = Raised(Stage.COMPILE, "tvm.error.InternalError", message, tuple(frames))
    return sighting(Finding(Kind.INTERNAL_ERROR, component, TVM_LANES[0], Stage.COMPILE, evidence))


def wrong(kind: Kind = Kind.WRONG_VALUE) -> Sighting:
    return sighting(Finding(kind, Component.TVM, TVM_LANES[0], Stage.RUN, Mismatch(0, "1.0", "2.0")))


def waits(case: Case, found: Sighting, suspect: Suspect = NO_SUSPECT) -> FindingDoc:
    return waiting_item.document(case, found, {"tvm": "0.27.0"}, suspect)
