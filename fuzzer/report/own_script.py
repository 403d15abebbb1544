"""Run a finding's `repro.py` before the finding is saved. A reported script must show its bug."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord, record_of
from fuzzer.isolate.fleet import RunScript
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.report import repro, repro_target
from fuzzer.report.no_script import why_no_script
from fuzzer.report.onnx_unused import operator_at_fault, without_unused
from fuzzer.system.devices import KINDS
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.undisturbed import undisturbed_script
from generators.dialect import dialect_named
from generators.onnx.model import OnnxModel
from oracles.targets import target_named


def with_own_script(run_script: RunScript, found: Investigated, versions: dict[str, str]) -> Investigated:
    """The finding with how its script ends. Its ONNX file loses unused parts if the script still shows the bug."""
    if found.flaky:
        return replace(found, script=ScriptRun(None, "flaky"))
    smaller = _without_unused(found)
    if smaller != found.onnx:
        tried = replace(found, onnx=smaller)
        result = run(run_script, _record(tried, versions))
        if result.shows:
            return replace(tried, script=result)
    return replace(found, script=run(run_script, _record(found, versions)))


def _record(found: Investigated, versions: dict[str, str]) -> FindingRecord:
    return record_of(found, finding_file.document(found, versions))


def _without_unused(found: Investigated) -> OnnxModel | None:
    if found.onnx is None or dialect_named(found.case.graph.dialect).is_file:  # a given file stays as it is
        return found.onnx
    return without_unused(found.onnx, kept=operator_at_fault(found.onnx, found.blame.culprit))


def run(run_script: RunScript, record: FindingRecord, machine: Machine = THIS) -> ScriptRun:
    """Run the script that the current code writes, and return how it ended. What only says that no script shows the
    finding is not run, nor one that the machine disturbs again and again."""
    if why := why_no_script(record):
        return ScriptRun(None, why)
    if lacks := lacks_a_device(record, machine):
        return ScriptRun(None, lacks)
    return undisturbed_script(run_script)(repro.script(record), record.finding.lane)


def lacks_a_device(record: FindingRecord, machine: Machine = THIS) -> str:
    """Which device the script needs that this machine lacks; "" if it lacks none."""
    kind = target_named(record.finding.lane.target).device
    if repro_target.runs_on_a_device(record.finding) and not machine.devices(kind):
        return f"it needs a {KINDS[kind].words}, and there is none here"
    return ""


def warning(doc: FindingDoc) -> str:
    """One line if the script did not show the bug; "" if it did, was not run, or belongs to a flaky finding."""
    if doc.script is None or doc.script.shows or doc.flaky:
        return ""
    return f"{doc.slug}: its repro.py {doc.script.description}"
