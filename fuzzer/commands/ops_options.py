"""The options of `fuzz ops`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

import typer

from fuzzer.commands.options import DialectName, JsonFlag
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.dialect_names import DEFAULT


@dataclass(frozen=True, slots=True)
class OpsOptions:
    """What the user wrote. `fuzz ops --help` lists the options in this order."""

    coverage: Annotated[
        bool, typer.Option("--coverage", help="List the converters of TVM that are reached, and why others are not.")
    ] = False
    part: Annotated[
        str, typer.Argument(metavar="PART", show_default=False, help="Only operators with this in their names.")
    ] = ""
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Only these operators.")] = "*"
    count: Annotated[int, typer.Option(min=1, metavar="N", help="With --coverage: programs of each operator.")] = 12
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="With --coverage: the seed of the programs.")] = 0
    dynamo: Annotated[
        bool, typer.Option("--dynamo/--no-dynamo", help="With --coverage: also use the slow ONNX exporter.")
    ] = True
    reach: Annotated[
        str | None,
        typer.Option(metavar="FUNCTION|FILE", help="List the operators that reach this function or file of TVM."),
    ] = None
    toolchain: Annotated[str, typer.Option(metavar="NAME", help="With --reach: the toolchain.")] = HOST_NAME
    workers: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --coverage and --reach: programs at the same time.")
    ] = max(1, os.cpu_count() or 1)
    dialect: DialectName = DEFAULT
    json: JsonFlag = False
