"""`fuzz show`: what is known of a finding, of a sighting that waits, or of a case, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec.json import decode

from fuzzer.commands.options import FindingCampaign, JsonFlag
from fuzzer.findings import condition, finding_file, upstream
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.headline import headline
from fuzzer.findings.named import finding_named
from fuzzer.findings.record import FindingRecord, read
from fuzzer.findings.severity import severity_of
from fuzzer.report import sentences
from fuzzer.report.document import document
from fuzzer.report.listing import listing
from fuzzer.system.terminal import campaign_option, command, echo, next_line, one_line, print_json
from fuzzer.triage.scope.words import sentence
from fuzzer.watching.cause_lines import short_name
from fuzzer.watching.formatting import number_of
from fuzzer.watching.titles import sighting_title, title_of
from generators import case_file
from generators.graph import Case

INDENT = "    "


def show(
    name: Annotated[
        Path,
        typer.Argument(
            metavar="X", help="A number of the list shown last, a part of a name, or a folder: of a finding or a case."
        ),
    ],
    campaign: FindingCampaign = None,
    json: JsonFlag = False,
) -> None:
    """Show what is known of a finding, of what was seen and waits, or of a case: `fuzz show 3`."""
    folder = finding_named(name, campaign)
    if not (folder / finding_file.NAME).exists() and (folder / case_file.JSON_NAME).exists():
        case = case_file.read(folder)
        if json:
            print_json({"case": decode(case_file.encode(case)[0])})
        else:
            _print(_of_case(folder, case))
        return
    record = read(folder)
    if json:
        print_json(document(record))
    elif record.doc.confirmed.startswith("0"):
        _print(_of_sighting(folder, record))
    else:
        _print(_of_finding(folder, record))


def _print(lines: Iterator[str]) -> None:
    echo(*map(one_line, lines), sep="\n")


def _of_case(folder: Path, case: Case) -> Iterator[str]:
    yield f"{folder}: a case of {number_of(len(case.graph.nodes), 'operator')}: {case.origin or 'made by hand'}"
    yield from _indented(listing(case))
    yield next_line("minimize", folder)


def _of_sighting(folder: Path, record: FindingRecord) -> Iterator[str]:
    doc = record.doc
    yield sighting_title(doc)
    yield f"seen once, and not confirmed yet; {doc.suspect.words}"
    yield f"seen: {headline(doc.finding)}"
    yield f"model: {number_of(len(record.case.graph.nodes), 'operator')}, as it was drawn"
    yield from _indented(listing(record.case))
    campaign = campaign_option(folder.absolute().parent.parent)
    yield next_line("triage", "--work", short_name(folder.name), *campaign)


def _of_finding(folder: Path, record: FindingRecord) -> Iterator[str]:
    doc, shown = record.doc, record.shown
    severity = severity_of(doc, case_file.input_types(folder))
    yield title_of(folder, doc)
    yield f"severity: {severity.level}: {'; '.join(severity.reasons)}"
    yield f"seen: {headline(shown.finding)}"
    yield f"confirmed: {doc.confirmed} runs failed; fails in {', '.join(doc.lanes)}"
    yield f"at fault: {doc.component}: {sentences.culprit(record) or 'which part of it is not known'}"
    if condition.missing(doc):
        yield condition.how_to_look(folder)
    elif known := sentence(record.doc.scope, record.case.graph):
        yield f"condition: {known}"
    if released := sentences.released(record):
        yield f"releases: {released}"
    yield from (f"perhaps known upstream: {row}" for row in upstream.related(doc))
    yield "model:"
    yield from _indented(listing(shown.case))
    yield f"folder: {folder}"
    yield "also:"
    yield from (f"{INDENT}{each}" for each in _commands(folder, doc))
    yield next_line("replay", folder)


def _commands(folder: Path, doc: FindingDoc) -> Iterator[str]:
    yield f"`{command('report', folder)}` prints the report"
    yield f"`{command('file', folder)}` prints the issue"
    if not doc.introduced.builds:
        yield f"`{command('bisect', folder)}` finds the release that introduced it"


def _indented(source: str) -> list[str]:
    return [f"{INDENT}{line}" if line else "" for line in source.split("\n")]
