"""The stored data of one finding. All reports are made from it, when the finding is saved or later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fuzzer.findings import finding_file, natural_file
from fuzzer.findings.field_forms import why_not_valid
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.triage.scope.words import with_names_of
from generators.dialect import dialect_named
from generators.graph import Array, Case, Invalid
from generators.onnx.model import OnnxModel, Value
from generators.onnx.model import decode as decode_onnx
from generators.onnx.small_types import SMALL_TYPES, in_small_type
from generators.onnx.source import File, render
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Finding

if TYPE_CHECKING:
    from fuzzer.triage.investigate import Investigated

BEFORE, AFTER = "ir-before.txt", "ir-after.txt"
"""Files with the TVMScript before and after the part at fault."""

ONNX = "onnx.json"
"""The file with the ONNX model that the lane imported, as plain data."""


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """The stored data of a finding.

    doc     contents of finding.json
    case    reduced, unless the finding is flaky
    before  TVMScript before the part at fault; "" if it is not known
    after   TVMScript after the part at fault; "" if it is not known
    onnx    the ONNX file that TVM imported, as data: one that was given, or one that PyTorch exported. None if there is
            none, or if onnxruntime does not run the exported one
    natural the same failure with types and sizes that people write; None if it was not looked for, or not found
    """

    doc: FindingDoc
    case: Case
    before: str = ""
    after: str = ""
    onnx: OnnxModel | None = None
    natural: FindingRecord | None = None

    @property
    def finding(self) -> Finding:
        return self.doc.finding

    @property
    def built(self) -> bool:
        """Whether reports build an ONNX file: that of a case of ONNX, or the exported one."""
        return dialect_named(self.case.graph.dialect).is_file or self.onnx is not None

    @property
    def shows_export(self) -> bool:
        """Whether reports build the file that PyTorch exported."""
        return self.onnx is not None and not dialect_named(self.case.graph.dialect).is_file

    @property
    def shown(self) -> FindingRecord:
        """What reports show: the natural case where there is one, else the reduced case."""
        return self.natural or self


def built_file(record: FindingRecord, case: Case) -> File | None:
    """Return the ONNX file that a report builds, and its inputs, with the numbers of `case`, the record's case with
    perhaps other numbers; None where the report has a model of PyTorch."""
    if record.onnx is not None:
        names = _own_names(case)
        model = _with_true_outputs(record.onnx, case) if record.shows_export else record.onnx
        given = {item.name: _as_in_file(item, case.tensors[names[item.name]]) for item in record.onnx.inputs}
        return File(model, given)
    if dialect_named(case.graph.dialect).is_file:
        return render(case.graph if record.doc.lane.symbolic else case.bound, case.tensors)
    return None


def _as_in_file(item: Value, array: Array) -> Array:
    small = SMALL_TYPES.get(item.element or "")
    return in_small_type(array, small) if small else array


def _with_true_outputs(model: OnnxModel, case: Case) -> OnnxModel:
    """The file that PyTorch exported, with the sizes that its outputs have: the exporter sometimes declares others, and
    a reader would think that this is the bug. Open sizes stay."""
    types = [case.bound.types[name] for name in case.bound.outputs]
    if len(types) != len(model.outputs):
        return model
    outputs = tuple(_sized(value, type.shape) for value, type in zip(model.outputs, types, strict=True))
    return msgspec.structs.replace(model, outputs=outputs)


def _sized(value: Value, true: tuple[object, ...]) -> Value:
    if value.shape is None or len(value.shape) != len(true):
        return value
    shape = (
        size if isinstance(dim, int) and isinstance(size, int) else dim
        for dim, size in zip(value.shape, true, strict=True)
    )
    return msgspec.structs.replace(value, shape=tuple(shape))


def _own_names(case: Case) -> Mapping[str, str]:
    """The name in the case of each tensor, by its name in `FindingRecord.onnx`: an exported file has the case's."""
    if case.given is None or not dialect_named(case.graph.dialect).is_file:
        return {name: name for name in case.tensors}
    return {its: own for own, its in case.given.names.items()}


def record_of(found: Investigated, doc: FindingDoc) -> FindingRecord:
    """Return the record of a finding that is about to be saved."""
    return FindingRecord(doc, found.case, found.blame.before, found.blame.after, found.onnx)


def natural_record(found: Investigated, doc: FindingDoc) -> FindingRecord:
    """Return the record of a natural case of the finding `doc`."""
    return record_of(found, natural_file.with_natural(doc, natural_file.document(found)))


def read(folder: Path) -> FindingRecord:
    """Read the folder of a finding. Raise `Invalid` if it is not valid, or if its case was changed."""
    doc, case = finding_file.read_with_case(folder)
    before, after, onnx = _text(folder / BEFORE), _text(folder / AFTER), _onnx(folder / ONNX, case)
    return FindingRecord(doc, case, before, after, onnx, _natural(folder, doc, case))


def readable(folders: Iterable[Path]) -> Iterator[FindingRecord]:
    """Yield the records of the findings that can be read with their cases."""
    for folder in folders:
        try:
            yield read(folder)
        except Invalid:
            continue


def _natural(folder: Path, doc: FindingDoc, reduced: Case) -> FindingRecord | None:
    found = natural_file.read(folder)
    if found is None:
        return None
    natural, case = found
    onnx = _decoded(msgspec.json.encode(natural.onnx), folder / natural_file.NAME, case) if natural.onnx else None
    shown = natural_file.with_natural(doc, natural)
    if reason := why_not_valid(shown):
        raise Invalid(f"{folder / natural_file.NAME}: {reason}")
    shown = msgspec.structs.replace(shown, scope=with_names_of(doc.scope, reduced.graph, case.graph))
    return FindingRecord(shown, case, natural.blame.before, natural.blame.after, onnx)


def _text(path: Path) -> str:
    """Return the contents of a text file, or "" if there is no such file."""
    try:
        return read_plain(path, MOST_TEXT).decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Invalid(f"{path}: {error}") from None


def _onnx(path: Path, case: Case) -> OnnxModel | None:
    text = _text(path)
    return _decoded(text.encode(), path, case) if text else None


def _decoded(text: bytes, path: Path, case: Case) -> OnnxModel:
    """The model. Raise `Invalid` also where it has an input for which the case has no tensor."""
    model = decode_onnx(text, str(path))
    names = _own_names(case)
    if unknown := [item.name for item in model.inputs if item.name not in names]:
        raise Invalid(f"{path}: the case has no tensor for the input {unknown[0][:60]!r}")
    return model
