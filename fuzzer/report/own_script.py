"""Run a finding's `repro.py` before the finding is saved. A reported script must show its bug."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.record import FindingRecord, record_of
from fuzzer.isolate.fleet import ScriptRunner
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.report import repro, repro_target
from fuzzer.report.onnx_unused import operator_at_fault, without_unused
from fuzzer.triage.investigate import Confirmed
from generators.onnx.model import OnnxModel


def with_own_script(runner: ScriptRunner, found: Confirmed, versions: dict[str, str]) -> Confirmed:
    """The finding with how its script ends. Its ONNX file loses unused parts if the script still shows the bug."""
    if found.flaky:
        return replace(found, script=ScriptRun(None, "flaky"))
    smaller = _without_unused(found)
    if smaller != found.onnx:
        tried = replace(found, onnx=smaller)
        result = run(runner, _record(tried, versions))
        if result.shows:
            return replace(tried, script=result)
    return replace(found, script=run(runner, _record(found, versions)))


def _record(found: Confirmed, versions: dict[str, str]) -> FindingRecord:
    return record_of(found, finding_file.document(found, versions))


def _without_unused(found: Confirmed) -> OnnxModel | None:
    if found.onnx is None:
        return None
    return without_unused(found.onnx, kept=operator_at_fault(found.onnx, found.blame.culprit))


def run(runner: ScriptRunner, record: FindingRecord, machine: Machine = THIS) -> ScriptRun:
    """Run the script that the current code writes, and return how it ended."""
    if repro_target.runs_on_a_device(record.finding) and not machine.devices():
        return ScriptRun(None, "it needs a GPU, and there is none here")
    return runner.run_script(repro.script(record), record.finding.lane)


def warning(doc: FindingDoc) -> str:
    """One line if the script did not show the bug; "" if it did, was not run, or belongs to a flaky finding."""
    if doc.script is None or doc.script.shows or doc.flaky:
        return ""
    return f"{doc.slug}: its repro.py {doc.script.description}"
