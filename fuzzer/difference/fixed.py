"""What fails in the base alone: the second list of `fuzz diff`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fuzzer.campaign.triage import waiting_item
from fuzzer.difference.failures import failures_in
from fuzzer.difference.pair import Pair
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.child_process import GaveUp
from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import needed
from fuzzer.signature import Signature, signature_of
from fuzzer.system.files import write_atomically
from fuzzer.triage.investigate import Sighting
from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Skipped

FOLDER = "fixed"

RUNS = 3
"""This many runs in fresh processes confirm a fix. In each, the base fails and the patched toolchain does not."""

MOST_CONFIRMED, SECONDS = 40, 90.0
"""At most this many sightings are confirmed, and no more begin after this many seconds."""


@dataclass(slots=True)
class FixedFailures:
    """One sighting of each failure of TVM's that the patched toolchain does not have, by coarse signature. The folder
    `fixed/` of the campaign has their cases; `fuzz --replay` shows one in the base. Thread-safe until `confirm`."""

    campaign: Path
    pair: Pair
    docs: dict[Signature, FindingDoc] = field(default_factory=dict)
    _sightings: dict[Signature, tuple[Case, LaneSpec]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, case: Case, finding: Finding, versions: Mapping[str, str]) -> None:
        """Keep a failure of the base, the first of its signature. `finding` is on the lane in the patched
        toolchain."""
        signature = signature_of(finding)
        with self._lock:
            if finding.component is not Component.TVM or signature in self.docs:
                return
            whole = replace(finding.lane, until=None)  # an investigation may end it early
            lane = replace(whole, toolchain=self.pair.name_of_base)
            sighting = Sighting(signature, replace(finding, lane=lane), (lane,))
            doc = waiting_item.document(case, sighting, dict(versions))
            self.docs[signature], self._sightings[signature] = doc, (case, whole)
            if not self._folder(doc).exists():
                waiting_item.written(self._folder(doc), doc, case)

    def confirm(self, run_fresh: RunLanes, stopped: Callable[[], bool], seconds: float) -> None:
        """Run the first sightings again in both toolchains, for `seconds` at most. The findings say in how many
        runs each was fixed. One whose runs are given up is not confirmed."""
        deadline = time.monotonic() + min(seconds, SECONDS)
        for signature, (case, lane) in list(self._sightings.items())[:MOST_CONFIRMED]:
            if stopped() or time.monotonic() >= deadline:
                return
            try:
                shown = sum(self._is_fixed(run_fresh, case, lane, signature) for _ in range(RUNS))
            except GaveUp:
                return
            doc = msgspec.structs.replace(self.docs[signature], confirmed=f"{shown} of {RUNS}", flaky=shown < RUNS)
            self.docs[signature] = doc
            write_atomically(self._folder(doc) / finding_file.NAME, finding_file.encode(doc), self.campaign)

    def _is_fixed(self, run_fresh: RunLanes, case: Case, lane: LaneSpec, signature: Signature) -> bool:
        """Whether the base shows the failure in a new run, and the patched toolchain is right to the end."""
        base = self.pair.twin(lane)
        outcomes = run_fresh(case, tuple(dict.fromkeys((*needed(lane), lane, base)))).outcomes
        references = {each: outcome for each, outcome in outcomes.items() if each not in (lane, base)}
        before = failures_in(case, {**references, lane: outcomes[base]}).get(lane)
        after = failures_in(case, {**references, lane: outcomes[lane]}).get(lane)
        says_nothing = isinstance(outcomes[lane], Skipped | Broken)
        same = before is not None and signature.same_failure(signature_of(before))
        return same and after is None and not says_nothing

    def _folder(self, doc: FindingDoc) -> Path:
        return self.campaign / FOLDER / doc.slug


def is_confirmed(doc: FindingDoc) -> bool:
    """Whether each of the runs has shown that a failure is fixed. Not each sighting is run again."""
    return doc.confirmed == f"{RUNS} of {RUNS}"
