"""Runs a finding's own `repro.py` before the finding is saved: what is reported must show its bug."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.record import FindingRecord, record_of
from fuzzer.isolate.fleet import ScriptRunner
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.report import repro, repro_target
from fuzzer.triage.investigate import Confirmed


def with_own_script(runner: ScriptRunner, found: Confirmed, versions: dict[str, str]) -> Confirmed:
    """The finding with how its script ends."""
    record = record_of(found, finding_file.document(found, versions))
    return replace(found, script=ScriptRun(None, "flaky") if found.flaky else run(runner, record))


def run(runner: ScriptRunner, record: FindingRecord, machine: Machine = THIS) -> ScriptRun:
    """How the script that today's code writes ends."""
    if repro_target.runs_on_a_device(record.finding) and not machine.devices():
        return ScriptRun(None, "it needs a GPU, and there is none here")
    return runner.run_script(repro.script(record), record.finding.lane)


def warning(doc: FindingDoc) -> str:
    """One line where the script did not show the bug; "" where it did, was not run, or belongs to a flaky finding."""
    if doc.script is None or doc.script.shows or doc.flaky:
        return ""
    return f"{doc.slug}: its repro.py {doc.script.description}"
