"""`fuzz report`: findings told again, by today's code, from what is stored. Nothing of them is run."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import msgspec
import numpy as np
import typer

from fuzzer.files import write_atomically
from fuzzer.report import issue, page, repro
from fuzzer.report.finding_file import encode, with_words
from fuzzer.report.record import Record, read
from fuzzer.terminal import next_line
from generators import case_file
from generators.graph import Array, Invalid, holds_floats


class Format(StrEnum):
    MD = "md"  # the text of an issue
    JSON = "json"  # everything, for machines
    HTML = "html"  # one page that needs nothing else


def report(
    findings: Annotated[list[Path], typer.Argument(help="Folders of crashes/.")],
    format: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.MD,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; of several findings, a folder. Printed if not given.")
    ] = None,
) -> None:
    """Tell findings again, as today's code does: `fuzz report crashes/x --format md`."""
    records = [read(folder) for folder in findings]
    texts = {record.doc.slug: text(record, format) for record in records}
    if out is None:
        if format is Format.HTML and len(texts) > 1:
            raise Invalid("several pages need a folder: --out DIR")
        print(_joined([*texts.values()], format), end="")
        return
    paths = {out: next(iter(texts.values()))}
    if len(texts) > 1:
        paths = {out / f"{slug}.{format}": each for slug, each in texts.items()}
    try:
        for path, each in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, each.encode())
    except OSError as error:
        raise Invalid(f"{error.filename or out}: {error.strerror}") from None
    print(f"wrote {len(paths)} to {out}; {next_line('file', findings[0])}", file=sys.stderr)


def text(record: Record, format: Format) -> str:
    match format:
        case Format.MD:
            return issue.text(record)
        case Format.JSON:
            return msgspec.json.format(msgspec.json.encode(document(record))).decode() + "\n"
        case Format.HTML:
            return page.html(record)
        case _:
            assert_never(format)


def document(record: Record) -> dict[str, object]:
    """All that is known, arrays as nested lists. Numbers that JSON lacks are words, as in finding.json."""
    case, _ = case_file.encode(record.case)
    return {
        "title": issue.title(record),
        "body": issue.body(record),
        "repro": repro.script(record),
        "finding": msgspec.json.decode(encode(record.doc)),
        "case": msgspec.json.decode(case),
        "tensors": {name: with_words(_numbers(array)) for name, array in record.case.tensors.items()},
        "ir": {"before": record.before, "after": record.after},
        "onnx": record.onnx,
    }


def _numbers(array: Array) -> object:
    """bfloat16 is no number of Python's."""
    return (array.astype(np.float64) if holds_floats(array) else array).tolist()


def _joined(texts: list[str], format: Format) -> str:
    """One after the other; of JSON, a list."""
    if len(texts) == 1:
        return texts[0]
    return f"[\n{','.join(texts)}]\n" if format is Format.JSON else "\n---\n\n".join(texts)
