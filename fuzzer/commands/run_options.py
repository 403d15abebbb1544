"""The options of `fuzz run`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.plan.settings import SCOPES, Disk, RunLimits, TriageLimits
from fuzzer.commands.file import BaseUrl, LedgerFile, Repository, TokenFile
from fuzzer.commands.model_options import InputFiles, OpenSizes
from fuzzer.commands.options import (
    DRAIN_SECONDS,
    JsonFlag,
    LanesGlob,
    OwnPassNames,
    PreloadFile,
    ReleaseNames,
    ToolchainNames,
)
from fuzzer.commands.times import as_written, parsed_seconds
from fuzzer.filing.office import TrackerOptions
from fuzzer.filing.tracker import PUBLIC
from fuzzer.system.free_space import GB, RESERVE
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.dialect_names import NAMES, USUAL

STOP_AFTER = "No test begins after this time: 90, 2m, 1.5h. Triage goes on for --drain."

OPTION_GROUPS = {
    "When to stop": ("seconds", "tests", "until_new", "drain"),
    "What to test": ("ops", "dialect", "lanes", "configurations", "seed", "guided", "share"),
    "A model": ("around", "inputs", "sizes"),
    "Which TVM": ("toolchain", "releases", "preload", "own_pass"),
    "Where and how": ("campaign", "workers", "disk_limit", "disk_reserve", "json", "stats", "metrics"),
    "Triage": ("triage_share", "scope_share"),
    "Many machines": ("cluster", "nodes", "node_dir"),
    "Filing": ("auto_file", "repo", "token_file", "base_url", "ledger"),
}

EXAMPLES = (
    "fuzz run --seconds 2m  two minutes, with all operators",
    "fuzz run --campaign night --seconds 8h --ops 'conv*,*pool*'  a night, with some operators, in a folder of its own",
)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the user wrote. `fuzz run --help` lists the options in this order."""

    seconds: Annotated[float | None, typer.Option(parser=parsed_seconds, metavar="TIME", help=STOP_AFTER)] = None
    tests: Annotated[int | None, typer.Option(min=0, metavar="N", help="Stop after this many tests.")] = None
    until_new: Annotated[
        int | None, typer.Option("--until-new", min=1, metavar="N", help="Stop after this many new findings.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The seed of the cases; random by default.")] = (
        None
    )
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Tests that run at the same time.")] = max(
        1, os.cpu_count() or 1
    )
    lanes: LanesGlob = "*"
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*"
    dialect: Annotated[
        str, typer.Option(metavar="NAMES", help=f"What cases are drawn of: {', '.join(NAMES)}, or several.")
    ] = ",".join(USUAL)
    around: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="A .pt2 or .onnx file, a folder of them, or FILE.py:NAME: see docs/around.md."
        ),
    ] = None
    inputs: InputFiles = None
    sizes: OpenSizes = None
    configurations: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Compile options, whose combinations are tested: see docs/around.md."),
    ] = None
    toolchain: ToolchainNames = HOST_NAME
    releases: ReleaseNames = ""
    guided: Annotated[
        bool, typer.Option("--guided/--random", help="Let the results of tests decide what is drawn next.")
    ] = True
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path(".")
    preload: PreloadFile = None
    own_pass: OwnPassNames = None
    triage_share: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="PART",
            help="The least share of the CPU for triage while sightings wait. The rest is for tests.",
        ),
    ] = TriageLimits().share
    scope_share: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, metavar="PART", help="The part of the CPU of triage that finds the scope of new findings."
        ),
    ] = SCOPES
    drain: Annotated[
        float,
        typer.Option(
            parser=parsed_seconds,
            metavar="TIME",
            help="How long triage may go on after the last test of a run.",
            show_default=as_written(DRAIN_SECONDS),
        ),
    ] = DRAIN_SECONDS
    share: Annotated[
        str, typer.Option(metavar="K/N", help="Only every N-th test, from the K-th on; N campaigns run all tests.")
    ] = "1/1"
    first: Annotated[int, typer.Option(min=0, hidden=True, help="No test below this number.")] = 0
    end: Annotated[int | None, typer.Option(min=0, hidden=True, help="Only tests below this number.")] = None
    disk_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="GB", help="Disk space for DIR; old tests are deleted first, findings never."),
    ] = None
    disk_reserve: Annotated[
        float, typer.Option(min=0, metavar="GB", help="Pause while the disk of DIR has less free space than this.")
    ] = RESERVE / GB
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="Run on the nodes of a Ray cluster: see docs/scale.md.")
    ] = None
    nodes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --cluster: the number of shares; by default one for each node."),
    ] = None
    node_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --cluster: where nodes keep their campaigns; by default DIR/nodes."),
    ] = None
    auto_file: Annotated[bool, typer.Option("--auto-file", help="File new findings: see `fuzz file`.")] = False
    repo: Repository = None
    token_file: TokenFile = None
    base_url: BaseUrl = PUBLIC
    ledger: LedgerFile = None
    metrics: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT", help="Serve metrics for Prometheus on the loopback interface."),
    ] = None
    stats: Annotated[bool, typer.Option("--stats", help="Also show where time and memory go, and how lanes end.")] = (
        False
    )
    json: JsonFlag = False

    @property
    def limits(self) -> RunLimits:
        return RunLimits(self.seconds, self.tests, self.until_new)

    @property
    def triage(self) -> TriageLimits:
        return TriageLimits(self.triage_share, self.drain, self.scope_share)

    @property
    def disk(self) -> Disk:
        limit = None if self.disk_limit is None else round(self.disk_limit * GB)
        return Disk(limit, round(self.disk_reserve * GB))

    @property
    def tracker(self) -> TrackerOptions:
        return TrackerOptions(self.repo, self.base_url, self.ledger)
