"""`fuzz corpus`: lists the cases that ship with difftvm, or runs those with an expectation. Regression corpora are
`fuzz corpus keep` and `fuzz corpus run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.corpus_keep import keep
from fuzzer.commands.corpus_run import run as run_corpus
from fuzzer.commands.options import JsonFlag
from fuzzer.commands.progress import working
from fuzzer.evaluation import founding_cases as shipped
from fuzzer.evaluation.founding_cases import Check, Entry
from fuzzer.isolate.fleet import Fleet
from fuzzer.system import temporary
from fuzzer.system.exit_codes import Exit
from fuzzer.system.help_text import GroupedCommand
from fuzzer.system.terminal import echo, next_line, number_of, print_json
from fuzzer.toolchains.registry import find

corpus = typer.Typer(add_completion=False, rich_markup_mode=None)
corpus.command("keep", cls=GroupedCommand)(keep)
corpus.command("run", cls=GroupedCommand)(run_corpus)


@corpus.callback(invoke_without_command=True)
def shipped_cases(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--corpus", metavar="DIR", help="The folder of the cases.")] = shipped.CORPUS,
    founding: Annotated[bool, typer.Option("--founding", help="Only cases that have an expected result.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Run the cases that have an expected result.")] = False,
    json: JsonFlag = False,
) -> None:
    """List the cases that ship with difftvm, or run those that have an expected result.

    Exit code 78 where a result differs, 69 where a toolchain is missing."""
    if context.invoked_subcommand:
        return
    entries = [entry for entry in shipped.read(folder) if entry.expected or not founding]
    if not run:
        _list(entries, json=json)
        return
    checks: list[Check] = []
    with (
        Fleet(temporary.new_folder(), find) as fleet,
        working("running the corpus", lambda: f"nothing is saved; {len(checks)} runs were done") as shown,
    ):
        for check in shipped.run(entries, fleet):
            checks.append(check)
            shown.count(len(checks), "runs")
            if not json:
                shown.print(*_lines(check))
    if json:
        print_json(checks)
    else:
        good = sum(check.ok for check in checks)
        gives = "gives" if 1 in (good, len(checks)) else "give"
        echo(f"{good} of {number_of(len(checks), 'run')} {gives} what is expected; {next_line('toolchain', 'list')}")
    raise typer.Exit(Exit.GONE if all(check.ok for check in checks) else Exit.DIFFERENT)


def _list(entries: list[Entry], *, json: bool) -> None:
    if json:
        print_json([_document(entry) for entry in entries])
        return
    for entry in entries:
        echo(f"{entry.name}: {', '.join(entry.case.graph.ops)}; {entry.case.origin}")
        for each in entry.expected:
            echo(f"  {each.lane.name} in {each.lane.toolchain}: {shipped.describe_expected(each.gives)}")
    echo(f"{number_of(len(entries), 'case')}; {next_line('corpus', '--founding', '--run')}")


def _document(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "ops": entry.case.graph.ops,
        "origin": entry.case.origin,
        "expected": entry.expected,
    }


def _lines(check: Check) -> list[str]:
    sizes = f" at {', '.join(f'{name}={size}' for name, size in check.sizes.items())}" if check.sizes else ""
    begin = f"{'ok ' if check.ok else 'BAD'} {check.case}{sizes}, {check.lane} in {check.toolchain}"
    if check.ok:
        return [f"{begin}: {check.expected}"]
    return [f"{begin}", f"      expected: {check.expected}", f"      actual: {check.actual}"]
