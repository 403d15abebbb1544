"""`fuzz replay`, and `fuzz --replay`: runs a finding again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.plan.selection import lanes_named
from fuzzer.commands.options import FINDING, FindingCampaign, JsonFlag, PreloadFile
from fuzzer.commands.progress import counting, working
from fuzzer.commands.tables import print_table
from fuzzer.findings import replay as replaying
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.named import finding_named
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.system import temporary
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, print_json, program, say
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME
from oracles.lane import LaneSpec


def replay(
    finding: Annotated[Path, typer.Argument(metavar="FINDING", help=FINDING)],
    lanes: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Lanes to run instead of the finding's own.")
    ] = None,
    times: Annotated[int, typer.Option(min=1, metavar="N", help="How often each lane runs.")] = 1,
    toolchain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Toolchains instead of the finding's own, comma-separated.")
    ] = None,
    campaign: FindingCampaign = None,
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Run a finding again: `fuzz --replay crashes/x`. Exit code 77: it still fails, 0: gone, 78: another failure."""
    finding = finding_named(finding, campaign)
    doc, case = replaying.load(finding)
    chosen = (doc.lane,) if lanes is None else lanes_named(lanes)
    where = named(doc.lane.toolchain if toolchain is None else toolchain)
    find_all = finder(preload)
    with (
        working("running the finding", lambda: f"nothing is saved; {finding} is unchanged") as shown,
        Fleet(temporary.new_folder(), find_all) as fleet,
    ):
        _report_other_preload(doc, fleet.versions)
        result = replaying.replay(counting(fleet, shown).run_fresh, doc, case, in_toolchains(chosen, where), times)
        releases = {each.name: fleet.backend(BackendKey(each.name)).versions["tvm"] for each in where}
    if json:
        runs = [
            {
                "lane": run.lane.name,
                "toolchain": run.lane.toolchain,
                "verdict": run.verdict.name.lower(),
                "told": run.text,
            }
            for run in result.runs
        ]
        print_json({"slug": doc.slug, "exit": int(result.exit), "runs": runs})
    else:
        if toolchain is not None:
            print_table(("toolchain", "TVM", "verdict", ""), _by_toolchain(result, releases))
        for run in result.runs if toolchain is None else ():
            echo(f"{run.verdict.name.lower().replace('_', ' ')}: {run.text}")
        same = sum(run.verdict is Exit.SAME for run in result.runs)
        python = _python_for(doc.lane)
        script = f"{finding / 'repro.py'}{f' {preload}' if preload else ''}"
        echo(f"{doc.slug}: {_shown(same, len(result.runs))}; next: {python} {script}")
    raise typer.Exit(result.exit)


def _shown(same: int, runs: int) -> str:
    """`the run shows it`, `2 of 3 runs show it`."""
    if runs == 1:
        return "the run shows it" if same else "the run does not show it"
    return f"{same} of {runs} runs {'shows' if same == 1 else 'show'} it"


def _report_other_preload(doc: FindingDoc, versions: Mapping[str, str]) -> None:
    then, now = doc.versions.get("preload"), versions.get("preload")
    if then != now:
        say(f"preloaded when it was found: {then or 'nothing'}; now: {now or 'nothing'}")


def _python_for(lane: LaneSpec) -> str:
    """The command that runs a finding's script with the Python in which its lane ran."""
    if lane.toolchain == HOST_NAME:
        return os.path.relpath(sys.executable)
    return f"{program()} toolchain python {lane.toolchain}"


def _by_toolchain(result: replaying.Replay, releases: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """A row for each toolchain: does the finding fail in it?"""
    for run in result.runs:
        yield run.lane.toolchain, releases[run.lane.toolchain], run.verdict_text, run.text
