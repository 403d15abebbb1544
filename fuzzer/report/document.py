"""A saved finding as the text of an issue, as a page, or as JSON. Nothing is run."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

import msgspec
import numpy as np

from fuzzer.findings.finding_file import encode, with_json_numbers
from fuzzer.findings.record import FindingRecord
from fuzzer.report import issue, page, repro
from fuzzer.system.terminal import json_text
from generators import case_file
from generators.graph import Array, holds_floats


class Format(StrEnum):
    MD = "md"  # the text of an issue
    JSON = "json"  # everything that is stored
    HTML = "html"  # one page without other files


def text(record: FindingRecord, format: Format) -> str:
    match format:
        case Format.MD:
            return issue.text(record)
        case Format.JSON:
            return json_text(document(record))
        case Format.HTML:
            return page.html(record)
        case _:
            assert_never(format)


def document(record: FindingRecord) -> dict[str, object]:
    """Everything that is stored. Arrays are nested lists; NaN and infinities are strings, as in finding.json."""
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
    """The array as nested lists. Python has no bfloat16, so floats are converted to float64."""
    return (array.astype(np.float64) if holds_floats(array) else array).tolist()
