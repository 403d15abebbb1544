"""What reports call operators, passes and the parts of TVM."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fuzzer.findings.record import FindingRecord, built_file
from fuzzer.report import onnx_unused
from generators.dialect import dialect_named
from oracles.finding import SideEffect
from oracles.outcome import Stage
from oracles.transforms import TRANSFORMS_BY_NAME, transform_named


def operators(record: FindingRecord) -> str:
    """The operators of the model, as its source names them: `conv2d` + `relu`. At a failed import of an ONNX file, the
    operator whose converter failed, where no operator before it got a wrong type."""
    graph, file = record.case.graph, built_file(record, record.case)
    stops_at = onnx_unused.operator_at_fault(file.model if file else None, record.doc.blame.culprit)
    if stops_at and record.doc.identity.stage is Stage.IMPORT and not record.doc.blame.origin.made:
        return f"`{stops_at}`"
    dialect = dialect_named(graph.dialect)
    if dialect.is_file and _returns_its_input(record):
        used: Iterable[str] = ("Identity",)
    else:
        used = record.onnx.ops if record.onnx else [dialect.called(graph, node) for node in graph.nodes]
    names = list(dict.fromkeys(name for name in used if name != "Constant")) or ["Constant"]
    shown = " + ".join(f"`{name}`" for name in names[:3])
    more = len(names) - 3
    return shown + (f" with {more} more operator{'s' * (more > 1)}" if more > 0 else "")


def _returns_its_input(record: FindingRecord) -> bool:
    """Whether the evidence is about an output of the graph that is an input, which an Identity writes in a file."""
    evidence, graph = record.doc.evidence.evidence, record.case.graph
    inputs = {item.value.name for item in graph.inputs}
    aliases = evidence.aliases if isinstance(evidence, SideEffect) else ()
    return bool(aliases) and all(graph.outputs[output] in inputs for output, _ in aliases)


def pass_name(transform: str) -> str:
    """The name of a pass in TVM."""
    found = re.match(r"[a-z_.]*\.(\w+)\(", transform_named(transform).source)
    return found[1] if found else transform


def pass_of_tvm(name: str) -> str:
    """The name of a pass in TVM, where difftvm has another one for the pass with arguments: `ConvertLayout-NHWC`."""
    return pass_name(name) if name in TRANSFORMS_BY_NAME else name


def as_code(culprit: str) -> str:
    """For example "`_binary_op` of `sub`": a converter of several operators, and the one that it converts."""
    return " of ".join(f"`{name}`" for name in culprit.split(" of "))
