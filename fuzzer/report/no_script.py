"""Why no script shows a finding whose lane ran the model as it was given."""

from __future__ import annotations

from fuzzer.findings.record import FindingRecord
from fuzzer.report.given_calls import NoScript
from fuzzer.report.given_program import program_source
from fuzzer.report.program_sizes import program_sizes
from generators.dialect import dialect_named
from oracles.lane import returns_gradients


def why_no_script(record: FindingRecord) -> str:
    """One sentence; "" where a script shows the model that the lane ran, as far as is known."""
    shown = record.shown
    case, doc = shown.case, shown.doc
    if case.given is None or returns_gradients(doc.lane):
        return ""
    if why := _cannot_be_written(shown):
        return f"No script shows this failure: {why}. {_INSTEAD}"
    if doc.script is not None and doc.script.exit_code is not None and not doc.script.shows:
        return f"No script shows this failure: that of the given model {doc.script.description}. {_INSTEAD}"
    return ""


_INSTEAD = "`fuzz --replay` with the folder of the finding runs the given model."


def _cannot_be_written(record: FindingRecord) -> str:
    case = record.case
    if record.onnx is not None:
        return ""
    if dialect_named(case.graph.dialect).is_file:
        return "the given file cannot be described as data"
    try:
        program_source(case)
        if record.doc.lane.symbolic:
            program_sizes(case)
    except NoScript as why:
        return f"the given program {why}"
    return ""
