"""What fails in the base alone: the second list of `fuzz diff`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzzer.campaign import waiting_item
from fuzzer.difference.pair import Pair
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.signature import Signature, signature_of
from fuzzer.triage.investigate import Sighting
from generators.graph import Case
from oracles.finding import Component, Finding

FOLDER = "fixed"


@dataclass(slots=True)
class FixedFailures:
    """One sighting of each failure of TVM's that the patched toolchain does not have, by coarse signature. The folder
    `fixed/` of the campaign has their cases; `fuzz --replay` shows one in the base. Thread-safe."""

    campaign: Path
    pair: Pair
    docs: dict[Signature, FindingDoc] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, case: Case, finding: Finding, versions: Mapping[str, str]) -> None:
        """Keep a failure of the base, the first of its signature. `finding` is on the lane in the patched
        toolchain."""
        signature = signature_of(finding)
        with self._lock:
            if finding.component is not Component.TVM or signature in self.docs:
                return
            lane = replace(finding.lane, toolchain=self.pair.name_of_base)
            sighting = Sighting(signature, replace(finding, lane=lane), (lane,))
            doc = waiting_item.document(case, sighting, dict(versions))
            self.docs[signature] = doc
            folder = self.campaign / FOLDER / doc.slug
            if not folder.exists():
                waiting_item.written(folder, doc, case)
