"""`test_regression.py`: a test of one finding in the style of TVM's own tests, for the pull request that fixes it.

It fails while the bug is there. It compares all outputs with PyTorch's or, for a finding in TVM's ONNX frontend, with
onnxruntime's: values within a tolerance, dtypes and shapes exactly.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.record import FindingRecord
from fuzzer.isolate.fleet import RunScript
from fuzzer.isolate.reports import ScriptRun
from fuzzer.report import repro
from fuzzer.report.ignored_attributes import ignored_attributes
from fuzzer.report.no_script import why_no_script
from fuzzer.report.plain_text import capital
from fuzzer.report.python_source import docstring, formatted
from fuzzer.report.repro_imports import imports
from fuzzer.report.repro_judge import least_precise
from fuzzer.report.repro_verdict import VerdictPart
from fuzzer.report.script_source import literal_of, short_number
from fuzzer.report.script_source import source as source_of
from fuzzer.report.title import plain_title
from fuzzer.signature.blame import Place
from fuzzer.triage.undisturbed import undisturbed_script
from generators.dialect import dialect_named
from generators.graph import DType
from oracles.finding import Component, Kind, Mismatch
from oracles.lane import Engine, is_relay, returns_gradients
from oracles.outcome import Died, Raised, Stage
from oracles.targets import target_named

NAME = "test_regression.py"

_WITHOUT_TEST = frozenset(
    {Kind.SLOW, Kind.BLOAT, Kind.NONDETERMINISTIC, Kind.CHECKER_GAP, Kind.MODIFIED_INPUT, Kind.ALIASED_OUTPUT}
    | {Kind.ILL_FORMED, Kind.TIMED_OUT, Kind.OUT_OF_MEMORY}
)
"""Kinds that a comparison of results does not show."""


def has_test(doc: FindingDoc) -> bool:
    """Whether a test can show the finding: results of a plain Relax lane on the CPU can, in TVM as it is."""
    lane = doc.lane
    if "preload" in doc.versions:
        return False
    plain = lane.engine is Engine.TVM and not (is_relay(lane) or returns_gradients(lane)) and not doc.flaky
    in_process = target_named(lane.target).runs.in_plain_process
    if dialect_named(lane.dialect).module and isinstance(doc.evidence.evidence, Mismatch):
        return False  # nothing in TVM's tests computes what is expected
    return plain and in_process and doc.component is Component.TVM and doc.kind not in _WITHOUT_TEST


def source(record: FindingRecord) -> str:
    """The test, formatted, with a note about the file of TVM's tests that it belongs to."""
    record = record.shown
    function, main = _function(record), 'if __name__ == "__main__":\n    tvm.testing.main()'
    standard, others = imports(f"{function}\n\n{main}")
    others = others.replace("import tvm\n", "import tvm\nimport tvm.testing\n")
    note = f"For {place(record)} of TVM. (difftvm {record.doc.signature})"
    head = docstring([capital(plain_title(record)), note])
    body = "\n\n".join(filter(None, [standard, others, function]))
    return f"{head}\n\n" + formatted(f"{body}\n\n\n{main}\n")


def test_to_show(run_script: RunScript, record: FindingRecord) -> str | None:
    """Return the test of a finding. Return None where it can have none, and where the test does not fail today."""
    shown = has_test(record.doc) and not why_no_script(record)
    return source(record) if shown and fails(run_script, record) else None


def fails(run_script: RunScript, record: FindingRecord) -> bool:
    """Return whether the test fails as the finding does: with its exception, with the death of the process, or with an
    assertion about the result."""
    done, evidence = run(run_script, record), record.shown.doc.evidence.evidence
    return done.shows or (isinstance(evidence, Died) and done.exit_code not in (0, 125, None))


def run(run_script: RunScript, record: FindingRecord, preload: Path | None = None) -> ScriptRun:
    """Run the test, after the file `preload` if there is one. The exit code is 0 where it passes, 1 where it fails as
    the finding does, and 125 where it fails in another way."""
    evidence = record.shown.doc.evidence.evidence
    expected = evidence.type.rpartition(".")[2] if isinstance(evidence, Raised) else "AssertionError"
    same = f"type(error).__name__ == {literal_of(expected)}"
    call = f"try:\n    {name(record.shown)}()\nexcept Exception as error:\n    raise SystemExit(1 if {same} else 125)"
    test = _function(record.shown).replace("tvm.testing.", "np.testing.")  # tvm.testing imports pytest
    first = f"runpy.run_path({literal_of(str(preload))})\n" if preload else ""
    text = f"{first}{test}\n\n{call}"
    return undisturbed_script(run_script)("\n".join([*imports(text), text]), record.finding.lane)


def _function(record: FindingRecord) -> str:
    compared = _as_comparison(record)
    body = re.sub(r"\n{3,}", "\n\n", repro.body_of(compared, _verdict(record)).strip())
    without = body.replace(_NO_GRADIENTS, "")
    decorator = "@torch.no_grad()\n" if without != body else ""
    return f"{decorator}def {name(record)}():\n{textwrap.indent(without, '    ')}"


_NO_GRADIENTS = "torch.set_grad_enabled(False)\n"
"""A line of scripts. A test must not change this for the tests after it."""


def name(record: FindingRecord) -> str:
    """`test_conv2d_wrong_dtype`, or `test_sub_ignores_alpha`."""
    ignored = [each.attribute for each in ignored_attributes(record)]
    wrong = ["ignores", *ignored] if ignored else [record.doc.kind]
    words = [*dict.fromkeys(record.case.graph.ops), *wrong]
    return "test_" + "_".join(re.sub(r"[^A-Za-z0-9_]+", "_", word) for word in words)[:70].strip("_").lower()


def place(record: FindingRecord) -> str:
    """The file of TVM's tests for what is at fault."""
    doc, lane = record.doc, record.doc.lane
    match doc.blame.place:
        case Place.CODEGEN:
            kind = str(target_named(lane.target).config["kind"])
            return f"tests/python/codegen/test_target_codegen_{'c_host' if kind == 'c' else kind}.py"
        case Place.LEGALIZATION:
            return "tests/python/relax/test_transform_legalize_ops.py"
        case Place.PASS:
            words = ("test_transform", _snake(doc.blame.culprit.rpartition(".")[2]))
            return f"tests/python/relax/{'_'.join(filter(None, words))}.py"
        case Place.RUNTIME:
            return "tests/python/relax/test_vm_build.py"
        case _:
            return lane.importer.row.function.test


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _as_comparison(record: FindingRecord) -> FindingRecord:
    """The record as one of a wrong result, so that the script runs the model to its end."""
    doc = record.doc
    evidence = StoredEvidence.of(Mismatch(0, "", ""))
    identity = replace(doc.identity, kind=Kind.WRONG_VALUE, stage=Stage.RUN)
    return replace(record, doc=msgspec.structs.replace(doc, kind=doc.kind, evidence=evidence, identity=identity))


def _verdict(record: FindingRecord) -> VerdictPart:
    dtypes = {value.type.dtype for value in record.case.graph.values()}
    allowed = least_precise(record.case)
    half = DType.BFLOAT16 in dtypes
    comparison = source_of('got.astype("float32"), want.astype("float32")' if half else "got, want")
    return VerdictPart("test.py.j2", comparison=comparison, allowed=short_number(allowed, 6))
