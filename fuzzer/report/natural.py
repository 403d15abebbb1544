"""The natural case that a report shows in place of the reduced case."""

from __future__ import annotations

from fuzzer.findings.record import FindingRecord, natural_record
from fuzzer.isolate.fleet import Lab
from fuzzer.report import repro
from fuzzer.report.own_script import with_own_script
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.natural.find import natural

MORE_LINES = 3
"""How many lines longer than the script of the reduced case the script of the natural case may be."""


def natural_to_show(lab: Lab, record: FindingRecord) -> Investigated | None:
    """Return the natural case of a saved finding. Return None where there is none, where its script does not show the
    bug, and where its script is too long."""
    doc, scope = record.doc, record.doc.scope
    statement = scope.statement if scope.is_certain else None
    found = natural(lab, record.case, record.finding, doc.identity, lab.examine, statement)
    if found is None:
        return None
    found = with_own_script(lab.run_script, found, lab.versions)
    if found.script is None or not found.script.shows:
        return None
    longer = _lines(natural_record(found, doc)) - _lines(record)
    return found if longer <= MORE_LINES else None


def _lines(record: FindingRecord) -> int:
    return repro.script(record).count("\n")
