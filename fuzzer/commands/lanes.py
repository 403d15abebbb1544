"""`fuzz lanes`: lists the lanes."""

from __future__ import annotations

from fuzzer.campaign.lanes import lane_table
from fuzzer.commands.options import JsonFlag
from fuzzer.commands.tables import print_table
from fuzzer.system.terminal import print_json


def lanes(json: JsonFlag = False) -> None:
    """List the lanes, and whether this machine can run each."""
    if json:
        print_json(lane_table.document())
    else:
        print_table(lane_table.COLUMNS, lane_table.cells())
