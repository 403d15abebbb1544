"""Everything that is stored of one finding: what all reports are made from, at once or years later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzer.cases.onnx_model import OnnxModel
from fuzzer.cases.onnx_model import decode as decode_onnx
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from generators.graph import Case, Invalid
from generators.plain_file import read_plain
from oracles.finding import Finding

if TYPE_CHECKING:
    from fuzzer.triage.investigate import Confirmed

BEFORE, AFTER = "ir-before.txt", "ir-after.txt"
"""TVMScript before and after what is to blame."""

ONNX = "onnx.json"
"""The ONNX file that the lane read, as plain data."""


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A finding's document, its case, the IR around what is to blame ("" where it is not known), and the ONNX file that
    TVM read (None where it read none, or where onnxruntime does not run it)."""

    doc: FindingDoc
    case: Case
    before: str = ""
    after: str = ""
    onnx: OnnxModel | None = None

    @property
    def finding(self) -> Finding:
        return self.doc.finding


def record_of(found: Confirmed, doc: FindingDoc) -> FindingRecord:
    return FindingRecord(doc, found.case, found.blame.before, found.blame.after, found.onnx)


def read(folder: Path) -> FindingRecord:
    """Raise `Invalid` where the folder holds no finding, or not the one that was saved."""
    doc, case = finding_file.read_with_case(folder)
    return FindingRecord(doc, case, _text(folder / BEFORE), _text(folder / AFTER), _onnx(folder / ONNX))


def _text(path: Path) -> str:
    """Empty where there is no such file."""
    try:
        return read_plain(path).decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Invalid(f"{path}: {error}") from None


def _onnx(path: Path) -> OnnxModel | None:
    text = _text(path)
    return decode_onnx(text.encode(), str(path)) if text else None
