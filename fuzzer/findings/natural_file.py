"""Writes and reads the natural case of a finding: `natural.json`, and the numbers in `natural.safetensors`.

The reduced case stays what identifies and replays a finding. The natural case shows the same failure with types, sizes
and attributes that people write.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fuzzer.findings import field_forms
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.finding_file import read_document, with_json_numbers
from fuzzer.isolate.reports import ScriptRun
from fuzzer.signature.blame import Blame
from generators import case_file
from generators.graph import Case, Invalid
from generators.onnx import model as onnx_model
from generators.plain_file import MOST_TENSORS, read_plain
from generators.text_forms import Forms, faults
from oracles import evidence_forms

if TYPE_CHECKING:
    from fuzzer.triage.investigate import Investigated

FORMAT = 1
NAME = "natural.json"
TENSORS = "natural.safetensors"


class NaturalDoc(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of `natural.json`.

    case      the document of the case, as in case.json
    evidence  what the case shows
    lanes     the names of the lanes that show it
    blame     with the TVMScript before and after the part at fault
    onnx      the ONNX model that TVM imported, as in onnx.json; None if there is none
    script    how the script of this case ended
    """

    format: int
    case: dict[str, Any]
    evidence: StoredEvidence
    lanes: list[str]
    blame: Blame
    onnx: dict[str, Any] | None
    script: ScriptRun | None


FORMS: Forms = {**field_forms.FORMS, (NaturalDoc, "lanes"): evidence_forms.NAME}
"""The form of each text of the document. What reads cases and models checks those in it."""


def document(found: Investigated) -> NaturalDoc:
    text, _ = case_file.encode(found.case)
    return NaturalDoc(
        FORMAT,
        msgspec.json.decode(text),
        StoredEvidence.of(found.finding.evidence),
        list(found.lanes),
        found.blame,
        msgspec.json.decode(onnx_model.encode(found.onnx)) if found.onnx else None,
        found.script,
    )


def encode(found: Investigated) -> dict[str, bytes]:
    """Return the contents of the two files, by name."""
    plain = msgspec.json.encode(with_json_numbers(msgspec.to_builtins(document(found))))
    return {NAME: msgspec.json.format(plain, indent=1) + b"\n", TENSORS: case_file.encode(found.case)[1]}


def read(folder: Path) -> tuple[NaturalDoc, Case] | None:
    """Read the natural case of a finding; None if it has none. Raise `Invalid` with one line if it is not valid."""
    path = folder / NAME
    try:
        doc = read_document(path, NaturalDoc, FORMAT)
    except FileNotFoundError:
        return None
    try:
        tensors = read_plain(folder / TENSORS, MOST_TENSORS)
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
    if reason := next(faults(msgspec.structs.replace(doc, case={}, onnx=None), FORMS), None):
        raise Invalid(f"{path}: {reason}")
    return doc, case_file.decode(msgspec.json.encode(doc.case), tensors, str(path))


def with_natural(doc: FindingDoc, natural: NaturalDoc) -> FindingDoc:
    """Return the finding's document with what the natural case shows in place of what the reduced case shows."""
    return msgspec.structs.replace(
        doc, evidence=natural.evidence, lanes=natural.lanes, blame=natural.blame, script=natural.script
    )
