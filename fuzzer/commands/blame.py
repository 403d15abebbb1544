"""`fuzz blame`: asks again who is to blame for a saved finding. The finding's folder stays as it is."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fuzzer import replay as replaying
from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.progress import Counted, working
from fuzzer.isolate.fleet import Fleet
from fuzzer.terminal import next_line, print_json
from fuzzer.toolchains.registry import finder
from fuzzer.triage.blame import Blame
from fuzzer.triage.blame.search import blame as find
from fuzzer.triage.signature import signature_of


def blame(
    finding: Annotated[Path, typer.Argument(help="A folder of crashes/.")],
    programs: Annotated[bool, typer.Option("--programs", help="Print TVMScript before and after it, too.")] = False,
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Say which part of TVM is to blame for a finding: frontend, pass, legalization, codegen or runtime."""
    doc, case = replaying.load(finding)
    with (
        working("looking for what is to blame", lambda: f"nothing is saved; {finding} stays as it is") as shown,
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), finder(preload)) as fleet,
    ):
        told = find(Counted(fleet, shown).run_fresh, case, doc.finding, signature_of(doc.finding))
    if json:
        print_json({"slug": doc.slug, **asdict(told)})
        return
    print(f"{doc.slug}: {_in_words(told)}")
    if told.evidence:
        print(f"  {told.evidence}.")
    for title, text in (("before", told.before), ("after", told.after)) if programs else ():
        if text:
            print(f"--- {title}\n{text.rstrip()}")
    print(next_line("bisect", finding))


def _in_words(told: Blame) -> str:
    if told.place is None:
        return "nobody is to blame that could be found" + (f", at {told.operator}" if told.operator else "")
    return f"{told.place}{told.culprit and f', {told.culprit}'}{told.operator and f', at {told.operator}'}"
