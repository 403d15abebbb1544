"""`repro.py`: a script for a bug report that shows one finding without difftvm.

It exits 1 while the bug is there, 0 when it is gone, and 125 when it cannot tell, also after any other error. `git
bisect run` expects these codes. The script of a case of ONNX, and of an exported file for whose reading TVM is at
fault, builds that file and needs no PyTorch. The script of a case of Relax has the module in TVMScript, and needs TVM
and numpy only.

The text is in the templates of `fuzzer/templates/repro/`. The modules `repro_*` compute the values for the templates:
expressions, lines, and which part of a template applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import jinja2

from fuzzer.cases import scalar_loss
from fuzzer.findings.headline import headline as headline
from fuzzer.findings.record import FindingRecord, built_file
from fuzzer.report import (
    repro_gradient,
    repro_guards,
    repro_importers,
    repro_judge,
    repro_lane,
    repro_model,
    repro_module,
    repro_onnx,
    repro_target,
    repro_verdict,
)
from fuzzer.report.no_script import why_no_script
from fuzzer.report.plain_text import capital
from fuzzer.report.program_sizes import program_sizes
from fuzzer.report.python_source import docstring, formatted
from fuzzer.report.repro_importers import ToNumpy
from fuzzer.report.repro_imports import imports
from fuzzer.report.repro_inputs import inputs_that_show_it
from fuzzer.report.script_source import Source, name, only_source, own_text, quoted, source
from fuzzer.report.title import plain_title
from generators.dialect import dialect_named
from generators.graph import Case
from generators.onnx.small_types import SMALL_TYPES
from generators.onnx.source import File
from oracles.finding import Finding
from oracles.lane import is_relay, returns_gradients
from oracles.transforms import transform_named

EXITS = "Exits 1 while the bug is there, 0 when it is gone, 125 when it cannot tell."

NEEDS_RELAY = (
    "Needs a TVM that has Relay (before 0.20): `fuzz toolchain add relay` installs 0.17,\n"
    "`fuzz toolchain python relay repro.py` runs this in it."
)

_EXCEPTHOOK = (
    "sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell"
)

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("fuzzer", "templates/repro"),
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
    finalize=only_source,
)


def script(record: FindingRecord) -> str:
    """The source, formatted. Where no script shows the model as it was given, it says so."""
    record = record.shown
    if why := why_no_script(record):
        return _without_model(record, why)
    finding, doc = record.finding, record.doc
    preloaded = doc.versions.get("preload", "")
    notes = [f"{preloaded} was preloaded: give its path as the argument."] if preloaded else []
    notes += [NEEDS_RELAY] if is_relay(finding.lane) else []
    head = docstring([capital(plain_title(record)), *notes, f"{EXITS} (difftvm {doc.signature})"])
    verdict = repro_verdict.verdict(finding, record.case, built=record.built)
    body = re.sub(r"\n{3,}", "\n\n", body_of(record, verdict).strip())
    standard, others = imports(f"{_EXCEPTHOOK}\n{body}")
    return f"{head}\n\n" + formatted("\n\n".join([standard, _EXCEPTHOOK, others, body]) + "\n")


def _without_model(record: FindingRecord, why: str) -> str:
    head = docstring([capital(plain_title(record)), why, f"(difftvm {record.doc.signature})"])
    call = formatted(f"print({quoted(why)})")
    return f"{head}\n\nimport sys\n\n{call}\nsys.exit(125)  # it cannot tell\n"


def body_of(record: FindingRecord, verdict: repro_verdict.VerdictPart) -> str:
    """The statements of the script, without its docstring and imports. `verdict` is its last part."""
    finding, case = record.finding, inputs_that_show_it(record.case, record.finding.kind)
    differentiated = returns_gradients(finding.lane)
    shown = scalar_loss.as_function(case) if differentiated else replace(case, graph=case.bound)
    built = built_file(record, case)
    module = repro_module.parts(case, finding) if dialect_named(case.graph.dialect).module else None
    bfloat16 = built is None and module is None and repro_model.has_bfloat16(case)
    to_numpy: ToNumpy = _as_numpy if bfloat16 else _numpy
    one, several = source("[out.numpy()]"), source("[{} for x in out]", to_numpy(name("x")))
    return _TEMPLATES.get_template("script.py.j2").render(
        preloaded=bool(record.doc.versions.get("preload")),
        bfloat16=bfloat16,
        numpy=lambda variable: to_numpy(name(variable)),
        outputs={
            "one": one,
            "several": several,
            "any": source('{} if hasattr(out, "numpy") else {}', one, several),
        },
        onnx=_onnx_parts(built, case, finding, verdict) if built else None,
        module=module,
        torch=None if built or module else repro_model.parts(shown, finding.lane),
        gradient=repro_gradient.parts(case) if differentiated else None,
        helpers=dict.fromkeys((*(module.helpers if module else ()), *_helpers_of_passes(finding))),
        target=repro_target.parts(finding),
        checks=repro_lane.checks(finding),
        guards=repro_guards.parts(finding),
        open_sizes=_open_sizes(case, built) if finding.lane.symbolic else None,
        functions=repro_lane.functions(case, finding, to_numpy, built=record.built),
        verdict=verdict,
    )


def _helpers_of_passes(finding: Finding) -> Iterator[Source]:
    return (own_text(helper) for each in finding.lane.passes if (helper := transform_named(each).helper))


def _open_sizes(case: Case, built: File | None) -> repro_importers.OpenSizes:
    """Those of the given program where the script has it, else those of the graph."""
    return repro_importers.open_sizes(case) if built or case.given is None else program_sizes(case)


def _numpy(tensor: Source) -> Source:
    return source("{}.numpy()", tensor)


def _as_numpy(tensor: Source) -> Source:
    return source("as_numpy({})", tensor)


def _onnx_parts(
    built: File, case: Case, finding: Finding, verdict: repro_verdict.VerdictPart
) -> repro_onnx.FileExpressions:
    """A script of a case of ONNX needs onnxruntime only where it compares results, and onnxruntime runs the case."""
    if not dialect_named(finding.lane.dialect).is_file:
        return repro_onnx.parts(built)
    runs = repro_lane.gives_results(finding)
    return repro_onnx.parts(
        built,
        converted=finding.lane.opset,
        compares=verdict.reads_expected,
        runs=runs,
        evaluated=repro_judge.is_evaluated(finding, case) or _has_small_ends(built),
    )


def _has_small_ends(built: File) -> bool:
    """Whether the file takes or returns numbers of a type of which onnxruntime takes no array of numpy."""
    return any(item.element in SMALL_TYPES for item in (*built.model.inputs, *built.model.outputs))
