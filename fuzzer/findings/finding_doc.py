"""The contents of `finding.json`."""

from __future__ import annotations

from typing import Annotated, assert_never

import msgspec

from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.signature import Signature
from fuzzer.signature.blame import NO_BLAME, NO_INTRODUCTION, NO_RELEASES, Blame, Introduction, Releases
from fuzzer.system.machine_facts import MachineFacts
from fuzzer.triage.scope.statement import NO_SCOPE, Scope
from fuzzer.triage.suspect import NO_SUSPECT, Suspect
from generators.graph import Invalid
from oracles.finding import Component, Evidence, Excess, Finding, Kind, Mismatch, SideEffect
from oracles.lane import LaneSpec
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut

FORMAT = 1
MOST_MACHINES = 16
"""The most machines that a finding lists; merging campaigns adds no more."""

Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]
Time = Annotated[float, msgspec.Meta(ge=0.0, lt=253402300800.0)]
"""Unix time before the year 10000. A page cannot show much later ones: JavaScript raises an error."""


class StoredEvidence(msgspec.Struct, forbid_unknown_fields=True):
    """The evidence of a finding. Exactly one field is set."""

    raised: Raised | None = None
    died: Died | None = None
    timed_out: TimedOut | None = None
    mismatch: Mismatch | None = None
    ill_formed: IllFormed | None = None
    mutant: Mutant | None = None
    side_effect: SideEffect | None = None
    excess: Excess | None = None
    memory_access: MemoryAccess | None = None

    @staticmethod
    def of(evidence: Evidence) -> StoredEvidence:
        """Put the evidence into the field for its type."""
        match evidence:
            case Raised():
                return StoredEvidence(raised=evidence)
            case Died():
                return StoredEvidence(died=evidence)
            case TimedOut():
                return StoredEvidence(timed_out=evidence)
            case Mismatch():
                return StoredEvidence(mismatch=evidence)
            case IllFormed():
                return StoredEvidence(ill_formed=evidence)
            case Mutant():
                return StoredEvidence(mutant=evidence)
            case SideEffect():
                return StoredEvidence(side_effect=evidence)
            case Excess():
                return StoredEvidence(excess=evidence)
            case MemoryAccess():
                return StoredEvidence(memory_access=evidence)
            case _:
                assert_never(evidence)

    @property
    def evidence(self) -> Evidence:
        """The field that is set. Raise `Invalid` if there is not exactly one."""
        found = [value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None]
        if len(found) != 1:
            raise Invalid(f"evidence: {len(found)} fields are set, not one")
        evidence: Evidence = found[0]
        return evidence


class FindingDoc(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of `finding.json`.

    signature    `Investigated.key`, by which campaigns identify the finding
    confirmed    how many runs showed the failure: "3 of 3"
    ops          operators of the reduced case, in graph order
    found_in     operators of the case in which the failure was found
    case_sha256  digest of the case that was saved with the finding
    reports      reports of compute-sanitizer
    cpu_seconds  the cost of the investigation, without its script and its scope
    found        Unix time at which the finding was saved; 0 if an earlier version saved it
    script       how repro.py ended when the finding was saved; None if an earlier version saved it
    scope        which cases near the reduced one fail; `NO_SCOPE` until somebody asks
    suspect      what a sighting that waits is suspected of. A finding has a blame, and `NO_SUSPECT`, unless a wrong
                 type of a suspected call has led to it
    introduced   the build that introduced it; `NO_INTRODUCTION` until `fuzz bisect` has looked in builds
    machines      the machines on which it was seen; () if an earlier version saved it
    """

    format: int
    slug: str
    signature: str
    kind: Kind
    component: Component
    lanes: list[str]
    ops: list[str]
    flaky: bool
    confirmed: str
    identity: Signature
    lane: LaneSpec
    evidence: StoredEvidence
    found_in: list[str]
    reduction_calls: int
    reduction_finished: bool
    case_sha256: str
    versions: dict[str, str]
    blame: Blame = NO_BLAME
    releases: Releases = NO_RELEASES
    reports: tuple[SanitizerReport, ...] = ()
    cpu_seconds: Seconds = 0.0
    found: Time = 0.0
    script: ScriptRun | None = None
    scope: Scope = NO_SCOPE
    introduced: Introduction = NO_INTRODUCTION
    suspect: Suspect = NO_SUSPECT
    machines: Annotated[tuple[MachineFacts, ...], msgspec.Meta(max_length=MOST_MACHINES)] = ()

    @property
    def finding(self) -> Finding:
        """The finding that the reduced case shows."""
        return Finding(self.kind, self.component, self.lane, self.identity.stage, self.evidence.evidence)
