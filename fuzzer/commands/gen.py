"""`fuzz gen`: generates cases, and counts what they cover."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.commands.options import JsonFlag
from fuzzer.commands.progress import working
from fuzzer.commands.selection import ops_named
from fuzzer.evaluation.generation import GenerationOptions
from fuzzer.evaluation.generation import run as generate_cases
from fuzzer.system.terminal import echo, next_line, say
from generators.builder import Limits
from generators.graph import Profile


def gen(
    count: Annotated[int, typer.Option(min=1, help="How many cases.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the cases.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each case to a folder in DIR.")] = None,
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*",
    nodes: Annotated[int, typer.Option(min=1, help="The largest number of operators in a graph.")] = Limits().max_nodes,
    profile: Annotated[Profile | None, typer.Option(help="Only values of this profile.")] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Check in PyTorch that the cases are valid; print what they cover.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Generate cases without any compiler."""
    options = GenerationOptions(count, seed, out, ops_named(ops), Limits(nodes), profile)
    done = 0

    def kept() -> str:
        return f"{done} of {count} cases are in {out}" if out else f"nothing is saved; {done} of {count} were generated"

    with working("generating cases", kept) as shown:

        def on_case(number: int) -> None:
            nonlocal done
            done = number
            shown.count(done, f"of {count}")

        report = generate_cases(options, ask_pytorch=stats, on_case=on_case)
    for line in report.invalid:
        say(line)
    summary = report.summary()
    where = f" in {out}" if out else ""
    if not json:
        for key, value in summary.items() if stats else ():
            echo(f"{key:22} {value}")
        echo(f"{count} cases{where}, {report.seconds:.2f} CPU s of generation; {next_line('run', '--seconds', 120)}")
    if json or stats:  # with --stats, too, the last line is JSON
        echo(msgspec.json.encode(summary).decode())
