"""`repro.py`: a script for a bug report that shows one finding without difftvm.

It exits 1 while the bug is there, 0 when it is gone, and 125 when it cannot tell, also after any other error. `git
bisect run` expects these codes. The script of a case of ONNX, and of an exported file for whose reading TVM is at
fault, builds that file and needs no PyTorch.

The text is in the templates of `fuzzer/templates/repro/`. The modules `repro_*` compute the values for the templates:
expressions, lines, and which part of a template applies.
"""

from __future__ import annotations

import re
from dataclasses import replace

import jinja2

from fuzzer.cases import scalar_loss
from fuzzer.findings.headline import headline as headline
from fuzzer.findings.record import FindingRecord, built_file
from fuzzer.report import (
    repro_gradient,
    repro_guards,
    repro_importers,
    repro_lane,
    repro_model,
    repro_onnx,
    repro_target,
    repro_verdict,
    wording,
)
from fuzzer.report.python_source import docstring, formatted
from fuzzer.report.repro_imports import imports
from fuzzer.report.repro_inputs import inputs_that_show_it
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
)


def script(record: FindingRecord) -> str:
    """The source, formatted."""
    record = record.shown
    finding, doc = record.finding, record.doc
    preloaded = doc.versions.get("preload", "")
    notes = [f"{preloaded} was preloaded: give its path as the argument."] if preloaded else []
    notes += [NEEDS_RELAY] if is_relay(finding.lane) else []
    head = docstring([wording.capital(wording.plain_title(record)), *notes, f"{EXITS} (difftvm {doc.signature})"])
    verdict = repro_verdict.verdict(finding, built=record.built)
    body = re.sub(r"\n{3,}", "\n\n", body_of(record, verdict).strip())
    standard, others = imports(f"{_EXCEPTHOOK}\n{body}")
    return formatted("\n\n".join([head, standard, _EXCEPTHOOK, others, body]) + "\n")


def body_of(record: FindingRecord, verdict: repro_verdict.VerdictPart) -> str:
    """The statements of the script, without its docstring and imports. `verdict` is its last part."""
    finding, case = record.finding, inputs_that_show_it(record.case, record.finding.kind)
    differentiated = returns_gradients(finding.lane)
    shown = scalar_loss.as_function(case) if differentiated else replace(case, graph=case.bound)
    built = built_file(record, case)
    bfloat16 = built is None and repro_model.has_bfloat16(case)
    torch_to_numpy = "as_numpy({})" if bfloat16 else "{}.numpy()"
    one, several = "[out.numpy()]", f"[{torch_to_numpy.format('x')} for x in out]"
    return _TEMPLATES.get_template("script.py.j2").render(
        preloaded=record.doc.versions.get("preload", ""),
        bfloat16=bfloat16,
        numpy=torch_to_numpy.format,
        outputs={
            "one": one,
            "several": several,
            "any": f'{one} if hasattr(out, "numpy") else {several}',
        },
        onnx=_onnx_parts(built, finding, verdict) if built else None,
        torch=None if built else repro_model.parts(shown, finding.lane),
        gradient=repro_gradient.parts(case) if differentiated else None,
        helpers=dict.fromkeys(
            transform_named(name).helper for name in finding.lane.passes if transform_named(name).helper
        ),
        target=repro_target.parts(finding),
        checks=repro_lane.checks(finding),
        guards=repro_guards.parts(finding),
        open_sizes=repro_importers.open_sizes(case) if finding.lane.symbolic else None,
        functions=repro_lane.functions(case, finding, torch_to_numpy, built=record.built),
        verdict=verdict,
    )


def _onnx_parts(built: File, finding: Finding, verdict: repro_verdict.VerdictPart) -> repro_onnx.FileExpressions:
    """A script of a case of ONNX needs onnxruntime only where it compares results."""
    if finding.lane.dialect != "onnx":
        return repro_onnx.parts(built)
    runs = repro_lane.gives_results(finding)
    return repro_onnx.parts(built, converted=finding.lane.opset, compares=verdict.reads_expected, runs=runs)
