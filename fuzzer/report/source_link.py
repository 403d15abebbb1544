"""The line of TVM's source at fault, as a link to the release that showed the bug."""

from __future__ import annotations

import posixpath
import re

from fuzzer.findings.record import FindingRecord
from fuzzer.report.requirements import versions_of
from fuzzer.signature.blame import Place
from oracles.outcome import Frame, Raised

SOURCE = "https://github.com/apache/tvm/blob"
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*(\.post[0-9]+)?", re.ASCII)
_PLACE = re.compile(r"(?P<file>[\w./-]+\.(py|cc|cpp|h)):(?P<line>[0-9]+)", re.ASCII)
_PYTHON, _CPP = re.compile(r"(?:.*site-packages/)?(tvm/.*\.py)"), re.compile(r".*?/((?:src|include)/.*\.(?:cc|cpp|h))")
_OF_TVM_FFI = "include/tvm/ffi/"
"""A project of its own, in another repository."""


def source_link(record: FindingRecord) -> str:
    """Markdown: where the function that is blamed begins, or the line of TVM that raised; "" where neither is known,
    or where TVM is no release."""
    version, place = versions_of(record.doc).get("tvm", ""), record.doc.blame.origin.place
    verb = "begins at"
    if not _PLACE.fullmatch(place):
        verb, place = "raised at", _raising_line(record)
    found = _PLACE.fullmatch(place)
    if not found or not _RELEASE.fullmatch(version):
        return ""
    folder = "python/" if found["file"].endswith(".py") else ""
    return f"{verb} [`{place}`]({SOURCE}/v{version}/{folder}{found['file']}#L{found['line']})"


def _raising_line(record: FindingRecord) -> str:
    """The line in the converter that is blamed, else the innermost line of TVM itself, from the traceback."""
    evidence = record.doc.evidence.evidence
    if not isinstance(evidence, Raised):
        return ""
    lines = [(frame, place) for frame in evidence.frames if (place := _in_tvm(frame))]
    if record.doc.blame.place is Place.CODEGEN:  # Python only calls it
        lines = [(frame, place) for frame, place in lines if ".py:" not in place]
    names = set(record.doc.blame.culprit.split(" of ")[0].split("."))
    at_fault = [place for frame, place in lines if frame.function in names]
    return (at_fault or [place for _, place in lines] or [""])[-1]


def _in_tvm(frame: Frame) -> str:
    """The place of a frame in TVM's repository, without `python/`; "" for a frame of another project."""
    found = _PYTHON.fullmatch(frame.file) or _CPP.fullmatch(posixpath.normpath(frame.file))
    return f"{found[1]}:{frame.line}" if found and not found[1].startswith(_OF_TVM_FFI) else ""
