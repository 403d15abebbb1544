"""Options that several verbs take, and what their words mean."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.lanes import select
from generators.graph import Invalid
from generators.ops import OPS, Op
from oracles.lane import LaneSpec

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ToolchainNames = Annotated[
    str, typer.Option("--toolchain", metavar="NAME", help="Where TVM's lanes run, comma-separated.")
]
PreloadFile = Annotated[
    Path | None, typer.Option("--preload", metavar="FILE.py", help="Executed in each process that runs TVM.")
]
LanesGlob = Annotated[str, typer.Option("--lanes", metavar="GLOB", help="TVM lanes, comma-separated globs.")]


def lanes_named(globs: str) -> tuple[LaneSpec, ...]:
    chosen = select(globs)
    if not chosen:
        raise Invalid(f"no lane matches {globs!r}; `fuzz lanes` lists them")
    return chosen


def ops_named(globs: str) -> tuple[Op, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    chosen = tuple(op for op in OPS if any(fnmatchcase(op.name, pattern) for pattern in patterns))
    if not chosen:
        raise Invalid(f"no operator matches {globs!r}; `fuzz ops` lists them")
    return chosen if len(chosen) < len(OPS) else OPS  # all of them: motifs, and a mix that suits TVM
