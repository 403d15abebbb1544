"""`fuzz merge`: merges several campaigns into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.run import merge as merging
from fuzzer.commands.options import JsonFlag
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.watching.formatting import number_of


def merge(
    sources: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="The campaigns; they may come from other machines.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The campaign that receives them; created if needed.")
    ],
    json: JsonFlag = False,
) -> None:
    """Merge the findings and counters of several campaigns into one. A second merge changes nothing."""
    done = merging.merge(sources, into)
    if json:
        rows = [{**msgspec.structs.asdict(each), "source": str(each.source)} for each in done]
        print_json(rows)
        return
    for each in done:
        tests, new = number_of(each.tests, "test"), number_of(each.new, "finding")
        echo(f"{each.source}: {tests} and {new} added; {number_of(each.known, 'finding')} already known")
    echo(next_line("status", "--campaign", into))
