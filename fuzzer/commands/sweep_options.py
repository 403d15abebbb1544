"""The options of `fuzz sweep`."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.plan.settings import TriageLimits
from fuzzer.commands.options import DRAIN_SECONDS, DialectName, JsonFlag, PreloadFile, ToolchainNames
from fuzzer.commands.times import parsed_seconds
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.dialect_names import DEFAULT


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """What the user wrote. `fuzz sweep --help` lists the options in this order."""

    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the sweep, which is started or continued.")]
    dialect: DialectName = DEFAULT
    ops: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Globs for operators (OpInfo names; in ONNX also tests); by default all."),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Samples of each operator and dtype, by default 2; in ONNX of each version, all."
        ),
    ] = None
    lanes: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="The lanes of TVM, comma-separated globs; in ONNX relax-onnx-model-llvm."),
    ] = None
    toolchain: ToolchainNames = HOST_NAME
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier sweep.json: list what differs from it.")
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(parser=parsed_seconds, metavar="TIME", help="No sample begins after this time: 90, 10m, 1.5h."),
    ] = None
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Tests that run at the same time.")] = max(
        1, os.cpu_count() or 1
    )
    preload: PreloadFile = None
    triage_share: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="PART", help="The least share of the CPU for triage while sightings wait."),
    ] = TriageLimits().share
    drain: Annotated[
        float | None,
        typer.Option(
            parser=parsed_seconds,
            metavar="TIME",
            help="How long triage may go on after the last test; 0: only a table.",
        ),
    ] = None
    json: JsonFlag = False

    @property
    def triage(self) -> TriageLimits:
        without_end = math.inf if self.seconds is None else DRAIN_SECONDS
        return TriageLimits(self.triage_share, without_end if self.drain is None else self.drain)
