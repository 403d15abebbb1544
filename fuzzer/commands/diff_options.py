"""The options of `fuzz diff`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.commands.options import JsonFlag, LanesGlob
from fuzzer.commands.times import as_written, parsed_seconds
from fuzzer.difference.parts_of_time import Times
from fuzzer.toolchains.toolchain import HOST_NAME

MINUTES = 10

WITHIN = (
    "End within this time after the start of the compilers: 90, 10m, 1.5h. Its last third, at most 4 min, has no tests."
)

FOLDER = Path("diff")
"""Where runs are kept if the caller names no folder, below the working directory."""


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What the user wrote. `fuzz diff --help` lists the options in this order."""

    base: Annotated[str, typer.Option(metavar="NAME", help="The toolchain that is right.")] = HOST_NAME
    patched: Annotated[str, typer.Option(metavar="NAME", help="The toolchain with the change.")] = HOST_NAME
    base_preload: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="A file to execute in each process of the base.")
    ] = None
    patched_preload: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="A file to execute in each process of the patched toolchain.")
    ] = None
    changed: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="A file of TVM that the change touches; may be given several times."),
    ] = None
    cases: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Cases to run first: a corpus or a campaign; may be given several times."),
    ] = None
    seconds: Annotated[
        float,
        typer.Option(parser=parsed_seconds, metavar="TIME", help=WITHIN, show_default=as_written(MINUTES * 60.0)),
    ] = MINUTES * 60.0
    tests: Annotated[int | None, typer.Option(min=0, metavar="N", help="Stop after this many tests.")] = None
    until_worse: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop when this many findings are worse.")
    ] = None
    aliasing: Annotated[
        bool, typer.Option("--aliasing", help="An output that shares memory with an input is worse, too.")
    ] = False
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The seed of the cases; random by default.")] = (
        None
    )
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Tests that run at the same time.")] = max(
        1, os.cpu_count() or 1
    )
    lanes: LanesGlob = "*"
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*"
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="Each run has a new directory: DIR/1, DIR/2, ...")] = (
        FOLDER
    )
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a summary for a pull request.")] = None
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as tests that failed.")] = None
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as SARIF 2.1.0.")] = None
    json: JsonFlag = False

    @property
    def reports(self) -> dict[str, Path]:
        """The files to write, by their form."""
        forms = {"markdown": self.markdown, "junit": self.junit, "sarif": self.sarif}
        return {form: path for form, path in forms.items() if path}

    @property
    def times(self) -> Times:
        return Times.of(self.seconds)

    @property
    def limits(self) -> RunLimits:
        return RunLimits(self.times.tests, self.tests, self.until_worse, self.aliasing)
