"""`fuzz lanes`: lists the lanes."""

from __future__ import annotations

from typing import Annotated

import typer

from fuzzer.campaign.lanes import lane_table
from fuzzer.campaign.plan.selection import lanes_perhaps_meant
from fuzzer.commands.options import JsonFlag
from fuzzer.commands.tables import print_table
from fuzzer.system.terminal import print_json
from generators.graph import Invalid


def lanes(
    part: Annotated[
        str, typer.Argument(metavar="PART", show_default=False, help="Only lanes with this in their names.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """List the lanes, and whether this machine can run each."""
    named = {lane.name for lane in lane_table.LISTED if part.lower() in lane.name.lower()}
    if not named:
        alike = lanes_perhaps_meant([part], [lane.name for lane in lane_table.LISTED])
        raise Invalid(f"no lane has {part!r} in its name{alike}; `fuzz lanes` lists all")
    if json:
        print_json([row for row in lane_table.document() if row["name"] in named])
    else:
        print_table(lane_table.COLUMNS, [row for row in lane_table.cells() if row[0] in named])
