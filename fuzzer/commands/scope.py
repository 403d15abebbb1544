"""`fuzz scope`: finds how far a bug reaches, from a saved finding, and writes it into the finding's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.commands.options import FINDING, FindingCampaign, JsonFlag, PreloadFile, Trust
from fuzzer.commands.progress import counting, working
from fuzzer.findings import finding_file, made_here
from fuzzer.findings.named import finding_named
from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.fleet import Fleet
from fuzzer.report.closer_look import look_closer
from fuzzer.report.scope_section import rows
from fuzzer.system import temporary
from fuzzer.system.terminal import echo, next_line, one_sentence, print_json, say
from fuzzer.toolchains.registry import finder
from fuzzer.triage.scope.find import WHOLE_EFFORT
from fuzzer.triage.scope.words import cut_short_in_words, sentence
from generators.dialect import dialect_named
from generators.graph import Graph, Invalid


def scope(
    findings: Annotated[
        list[Path], typer.Argument(metavar="FINDING...", help=f"{FINDING} Or a folder that holds some.")
    ],
    again: Annotated[bool, typer.Option("--again", help="Look again where the scope is known.")] = False,
    runs: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Runs of a lane for each finding: more runs may find a finer condition."),
    ] = WHOLE_EFFORT.runs,
    campaign: FindingCampaign = None,
    trust: Trust = False,
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Find what a bug needs: which dtypes, ranks, sizes and attributes fail; a usual case that shows it; and a test.

    All are saved in the finding's folder. What is known is only printed. An error in one finding does not stop the
    others; the first one ends the command.
    """
    folders = [each for path in findings for each in _folders(finding_named(path, campaign))]
    folders = [folder for folder in folders if not finding_file.read(folder).flaky]
    done: list[FindingRecord] = []
    errors: list[Exception] = []
    with (
        working("looking for the scope", lambda: f"{len(done)} of {len(folders)} findings have their scope") as shown,
        Fleet(temporary.new_folder(), finder(preload)) as fleet,
    ):
        lab = counting(fleet, shown)
        for folder in folders:
            try:
                known = read(folder)
                if again or not known.doc.scope.cases:
                    known = look_closer(
                        lab, folder, replace(WHOLE_EFFORT, runs=runs), read=read if trust else made_here.read
                    )
                done.append(known)
            except Exception as error:
                say(one_sentence(f"{folder.name}: {type(error).__name__}: {error}"))
                errors.append(error)
                continue
            if not json:
                shown.print(*_lines(done[-1]))
    if json:
        print_json([{"slug": each.doc.slug, **msgspec.to_builtins(each.doc.scope)} for each in done])
    if errors:
        raise errors[0]
    if not json:
        echo(next_line("report", folders[0]) if folders else "flaky findings have no scope")


def _folders(path: Path) -> list[Path]:
    if (path / finding_file.NAME).exists():
        return [path]
    for parent in (path, path / "crashes"):
        if found := finding_file.folders_in(parent):
            return found
    raise Invalid(finding_file.why_not_a_finding(path))


def _calls(graph: Graph) -> str:
    """The types of the inputs and the calls, in one line."""
    inputs = ", ".join(f"{item.value.name}: {item.value.type}" for item in graph.inputs)
    calls = (line for node in graph.nodes for line in dialect_named(graph.dialect).text(node))
    return "; ".join([inputs, *calls])


def _lines(record: FindingRecord) -> list[str]:
    found, graph = record.shown.doc.scope, record.shown.case.graph
    lines = [f"{record.doc.slug}: {sentence(found, graph) or 'the failure does not show here'}"]
    if found.cut_short:
        lines.append(f"  {cut_short_in_words(found)}")
    for what, fails, passes, _ in rows(found.variations):
        lines.append(
            f"  {what}: " + "; ".join(filter(None, (fails and f"fails {fails}", passes and f"passes {passes}")))
        )
    for title, pairs in (("operators", found.siblings), ("routes", found.routes)):
        if pairs:
            lines.append(f"  {title}: " + ", ".join(f"{name} {answer}" for name, answer in pairs))
    for each in found.ignored:
        lines.append(f"  ignores {each.attribute}: it is right where that is {each.as_if}, and not {each.value}")
    if record.natural:
        lines.append(f"  a usual case: {_calls(graph)}")
    return lines
