"""`fuzz gen`: generates cases, and counts what they cover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.plan.selection import ops_named
from fuzzer.commands.options import DialectName, JsonFlag
from fuzzer.commands.progress import working
from fuzzer.commands.with_options import with_options
from fuzzer.evaluation.generation import GenerationOptions, generated
from fuzzer.evaluation.generation import run as generate_cases
from fuzzer.report.listing import listing
from fuzzer.system.terminal import echo, next_line, number_of, say
from generators.builder import Limits
from generators.dialect_names import DEFAULT
from generators.graph import Profile

MANY = 1000
"""How many cases are written or counted, where the user does not say."""

SHOWN = 5
"""How many cases are printed at most."""


@dataclass(frozen=True, slots=True)
class GenOptions:
    """What the user wrote. `fuzz gen --help` lists the options in this order."""

    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many cases: by default 1, and 1000 with --out or --stats."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of the cases.")] = 0
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each case to a folder in DIR; else they are printed."),
    ] = None
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*"
    dialect: DialectName = DEFAULT
    nodes: Annotated[int, typer.Option(min=1, metavar="N", help="The largest number of operators in a graph.")] = (
        Limits().max_nodes
    )
    profile: Annotated[Profile | None, typer.Option(help="Only values of this profile.")] = None
    stats: Annotated[
        bool, typer.Option("--stats", help="Ask the references whether the cases are valid; print what they cover.")
    ] = False
    json: JsonFlag = False


@with_options(GenOptions)
def gen(options: GenOptions) -> None:
    """Generate cases without any compiler."""
    out, dialect = options.out, options.dialect
    count = options.count or (MANY if out or options.stats else 1)
    rows, limits = ops_named(options.ops, dialect), Limits(options.nodes)
    wanted = GenerationOptions(count, options.seed, out, rows, limits, options.profile, dialect)
    done = 0

    def kept() -> str:
        return f"{done} of {count} cases are in {out}" if out else f"nothing is saved; {done} of {count} were generated"

    with working("generating cases", kept) as shown:

        def on_case(number: int) -> None:
            nonlocal done
            done = number
            shown.count(done, f"of {count}")

        report = generate_cases(wanted, ask_references=options.stats, on_case=on_case)
    for line in report.invalid:
        say(line)
    summary = report.summary()
    where = f" in {out}" if out else ""
    if not options.json:
        for key, value in summary.items() if options.stats else ():
            echo(f"{key:22} {value}")
        of = () if dialect == DEFAULT else ("--dialect", dialect)
        following = next_line("run", *of, "--seconds", 120)
        if out is None and not options.stats:
            for case in islice(generated(wanted), SHOWN):
                echo(f"# {case.origin}", listing(case), "", sep="\n")
            if count > SHOWN:
                echo(f"and {number_of(count - SHOWN, 'case')} more; --out DIR writes all")
        echo(f"{number_of(count, 'case')}{where}, {report.seconds:.2f} CPU s of generation; {following}")
    if options.json or options.stats:  # with --stats, too, the last line is JSON
        echo(msgspec.json.encode(summary).decode())
