"""A saved finding in one of three forms: an issue's text, a page, or JSON. Nothing of it is run."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

import msgspec
import numpy as np

from fuzzer.findings.finding_file import encode, with_json_numbers
from fuzzer.findings.record import FindingRecord
from fuzzer.report import issue, page, repro
from generators import case_file
from generators.graph import Array, holds_floats


class Format(StrEnum):
    MD = "md"  # the text of an issue
    JSON = "json"  # everything, for machines
    HTML = "html"  # one page that needs nothing else


def text(record: FindingRecord, format: Format) -> str:
    match format:
        case Format.MD:
            return issue.text(record)
        case Format.JSON:
            return msgspec.json.format(msgspec.json.encode(document(record))).decode() + "\n"
        case Format.HTML:
            return page.html(record)
        case _:
            assert_never(format)


def document(record: FindingRecord) -> dict[str, object]:
    """All that is known, arrays as nested lists. Numbers that JSON lacks are words, as in finding.json."""
    case, _ = case_file.encode(record.case)
    return {
        "title": issue.title(record),
        "body": issue.body(record),
        "repro": repro.script(record),
        "finding": msgspec.json.decode(encode(record.doc)),
        "case": msgspec.json.decode(case),
        "tensors": {name: with_json_numbers(_numbers(array)) for name, array in record.case.tensors.items()},
        "ir": {"before": record.before, "after": record.after},
        "onnx": record.onnx,
    }


def _numbers(array: Array) -> object:
    """bfloat16 is no number of Python's."""
    return (array.astype(np.float64) if holds_floats(array) else array).tolist()


def joined(texts: list[str], format: Format) -> str:
    """One after the other; of JSON, a list."""
    if len(texts) == 1:
        return texts[0]
    return f"[\n{','.join(texts)}]\n" if format is Format.JSON else "\n---\n\n".join(texts)
