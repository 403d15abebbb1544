"""Options that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from generators.dialect_names import NAMES

FINDING = "A finding: its folder, a part of its name, or its number in the list shown last."

FindingCampaign = Annotated[
    Path | None,
    typer.Option("--campaign", metavar="DIR", help="The campaign that has the finding, by default this folder."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ToolchainNames = Annotated[
    str, typer.Option("--toolchain", metavar="NAME", help="The toolchains in which TVM's lanes run, comma-separated.")
]
PreloadFile = Annotated[
    Path | None, typer.Option("--preload", metavar="FILE.py", help="A file to execute in each process that runs TVM.")
]
Trust = Annotated[bool, typer.Option("--trust", help="Run the scripts of findings that were not made here, too.")]
OwnPassNames = Annotated[
    list[str] | None,
    typer.Option(
        "--own-pass",
        metavar="NAME",
        help="Fuzz a pass that the preloaded file registers (docs/passes.md); may be given several times.",
    ),
]
ReleaseNames = Annotated[
    str, typer.Option("--releases", metavar="NAMES", help="Also run each new finding in these toolchains.")
]
LanesGlob = Annotated[str, typer.Option("--lanes", metavar="GLOB", help="The lanes of TVM, comma-separated globs.")]
DialectName = Annotated[
    str, typer.Option("--dialect", metavar="NAME", help=f"The dialect of the cases: {' or '.join(NAMES)}.")
]

DRAIN_SECONDS = 60.0
"""How long triage may go on after the last test of a run, where the user does not say."""
