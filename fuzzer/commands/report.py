"""`fuzz report`: writes the reports of saved findings with the current code. Nothing is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import FINDING, FindingCampaign
from fuzzer.findings.named import finding_named
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report.document import Format, document, text
from fuzzer.system.files import make_folder, write_output
from fuzzer.system.terminal import next_line, print_document, print_json, say
from generators.graph import Invalid


def report(
    findings: Annotated[list[Path], typer.Argument(metavar="FINDING...", help=FINDING)],
    format: Annotated[Format, typer.Option("--format", help="The format.")] = Format.MD,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file, or a folder for several findings. Printed by default."),
    ] = None,
    campaign: FindingCampaign = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Write reports of findings with the current code: `fuzz report crashes/x --format md`. Nothing is run."""
    format = Format.JSON if json else format
    folders = list({(folder := finding_named(each, campaign)).resolve(): folder for each in findings}.values())
    records = list(map(read, folders))
    if out is None:
        _print(records, format)
        return
    names = [out] if len(records) == 1 else [out / f"{name}.{format}" for name in _names(records)]
    paths = {name: text(record, format) for name, record in zip(names, records, strict=True)}
    try:
        for path, each in paths.items():
            make_folder(path.parent)
            write_output(path, each.encode())
    except OSError as error:
        raise Invalid(f"{error.filename or out}: {error.strerror}") from None
    say(f"wrote {len(paths)} to {out}; {next_line('file', folders[0])}")


def _names(records: Sequence[FindingRecord]) -> Iterator[str]:
    """A name for each report. Findings of several campaigns may have one slug: the second of it ends in -2."""
    count: Counter[str] = Counter()
    for slug in (record.doc.slug for record in records):
        count[slug] += 1
        yield slug if count[slug] == 1 else f"{slug}-{count[slug]}"


def _print(records: Sequence[FindingRecord], format: Format) -> None:
    """Print reports one after the other. Several of JSON are a list."""
    if format is Format.JSON:
        documents = [document(record) for record in records]
        print_json(documents if len(documents) > 1 else documents[0])
        return
    if format is Format.HTML and len(records) > 1:
        raise Invalid("several pages need a folder: --out DIR")
    print_document("\n---\n\n".join(text(record, format) for record in records))
