"""`fuzz blame`: finds the part of TVM that is at fault in a saved finding. The finding's folder is not changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import FINDING, FindingCampaign, JsonFlag, PreloadFile
from fuzzer.commands.progress import counting, working
from fuzzer.findings import replay as replaying
from fuzzer.findings.named import finding_named
from fuzzer.isolate.fleet import Fleet
from fuzzer.signature import signature_of
from fuzzer.signature.blame import Blame
from fuzzer.system import temporary
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.toolchains.registry import finder
from fuzzer.triage.blame.search import blame as find


def blame(
    finding: Annotated[Path, typer.Argument(metavar="FINDING", help=FINDING)],
    programs: Annotated[
        bool, typer.Option("--programs", help="Also print the TVMScript before and after that part.")
    ] = False,
    campaign: FindingCampaign = None,
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Find the part of TVM that is at fault in a finding: importer, pass, legalization, code generation or runtime."""
    finding = finding_named(finding, campaign)
    doc, case = replaying.load(finding)
    with (
        working("looking for the part at fault", lambda: f"nothing is saved; {finding} is unchanged") as shown,
        Fleet(temporary.new_folder(), finder(preload)) as fleet,
    ):
        found = find(counting(fleet, shown).run_fresh, case, doc.finding, signature_of(doc.finding))
    if json:
        print_json({"slug": doc.slug, **asdict(found)})
        return
    echo(f"{doc.slug}: {_in_words(found)}")
    if found.evidence:
        echo(f"  {found.evidence}.")
    for title, text in (("before", found.before), ("after", found.after)) if programs else ():
        if text:
            echo(f"--- {title}\n{text.rstrip()}")
    echo(next_line("bisect", finding))


def _in_words(found: Blame) -> str:
    if found.place is None:
        return "the part at fault was not found" + (f", at {found.operator}" if found.operator else "")
    return f"{found.place}{found.culprit and f', {found.culprit}'}{found.operator and f', at {found.operator}'}"
