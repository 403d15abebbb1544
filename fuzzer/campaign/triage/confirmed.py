"""The causes that findings of the campaign have confirmed, and which of their later sightings need no investigation."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from fuzzer.campaign.triage.provisional import Key, keys_of_finding, raised_alike
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature import Signature
from fuzzer.triage.suspect import Certainty, Suspect
from fuzzer.triage.suspicion import calls_of
from generators.graph import Invalid
from oracles.lane import LaneSpec

FIRST_IN_TURN = 4
"""The first sighting that is investigated although a finding accounts for it. The others are two, four, ... times as
far."""


class ConfirmedCauses:
    """By provisional cause, the findings that confirm it. `crashes` is the folder of the findings. Thread-safe."""

    def __init__(self, crashes: Path) -> None:
        self._crashes = crashes
        self._lock = threading.Lock()
        self._findings: dict[Key, list[FindingDoc]] = {}
        self._calls: dict[str, str] = {}
        """By finding of one operator without a message, its typed call."""
        self._explained: Counter[str] = Counter()
        """By finding, the sightings of this run that it accounts for."""

    def add(self, doc: FindingDoc) -> None:
        """Take in a finding that confirms its cause."""
        call = self._typed_call(doc) if doc.identity.needs_ops and len(doc.ops) == 1 else ""
        with self._lock:
            self._calls[doc.signature] = call
            for key in keys_of_finding(doc):
                self._findings.setdefault(key, []).append(doc)

    def _typed_call(self, doc: FindingDoc) -> str:
        try:
            _, case = finding_file.read_with_case(self._crashes / doc.slug)
        except (OSError, Invalid):  # a finding of another node of a cluster has no case here
            return ""
        return calls_of(case).typed_call

    def counted_for(self, cause: Key, signature: Signature, lane: LaneSpec, suspect: Suspect) -> str | None:
        """The key of the finding for which a sighting of a cause on this lane is only counted; None where it is
        investigated. What has a message is counted for a finding with the same one from the same place. A wrong result
        is, where its suspect was seen: the operator of the finding, of the same dtypes, on a lane with the same
        importer and target."""
        key = self._accounting_for(cause, signature, lane, suspect)
        return None if key is None or self.is_in_turn(key) else key

    def _accounting_for(self, cause: Key, signature: Signature, lane: LaneSpec, suspect: Suspect) -> str | None:
        for doc in self._findings.get(cause, ()):
            if not doc.identity.needs_ops:
                if raised_alike(doc.identity, signature):
                    return doc.signature
                continue
            same = doc.lane.importer.row.family == lane.importer.row.family and doc.lane.target == lane.target
            is_sure = suspect.certainty is Certainty.SEEN
            if same and is_sure and suspect.typed_call and suspect.typed_call == self._calls[doc.signature]:
                return doc.signature
        return None

    def is_in_turn(self, key: str) -> bool:
        """Whether this is the 4th, 8th, 16th, ... sighting of this run that a finding accounts for. It is investigated
        nevertheless, because another bug may show in the same way."""
        with self._lock:
            self._explained[key] += 1
            count = self._explained[key]
        return count >= FIRST_IN_TURN and count & (count - 1) == 0
