"""`fuzz merge`: several campaigns in one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import merge as merging
from fuzzer.commands.options import JsonFlag
from fuzzer.system.terminal import next_line, print_json
from fuzzer.watching.formatting import number_of


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Campaigns, perhaps of other machines.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The campaign that takes all; made if needed.")],
    json: JsonFlag = False,
) -> None:
    """Bring the findings and the books of several campaigns into one. Doing it again changes nothing."""
    done = merging.merge(sources, into)
    if json:
        rows = [{**msgspec.structs.asdict(each), "source": str(each.source)} for each in done]
        print_json(rows)
        return
    for each in done:
        tests, new = number_of(each.tests, "test"), number_of(each.new, "finding")
        print(f"{each.source}: new are {tests} and {new}; {number_of(each.known, 'finding')} known here")
    print(next_line("status", "--campaign", into))
