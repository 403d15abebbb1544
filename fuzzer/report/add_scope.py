"""Writes the scope of a saved finding into its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue
from fuzzer.system.files import write_atomically
from fuzzer.triage.scope.statement import Scope


def add_scope(folder: Path, scope: Scope) -> FindingRecord:
    """Write finding.json and issue.md anew. All other files stay as they are."""
    record = read(folder)
    record = replace(record, doc=msgspec.structs.replace(record.doc, scope=scope))
    write_atomically(folder / finding_file.NAME, finding_file.encode(record.doc))
    write_atomically(folder / "issue.md", issue.text(record).encode())
    return record
