"""`fuzz sweep`: runs PyTorch's own samples of every operator through the lanes."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign import sweep as sweeping
from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.settings import LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store import Store
from fuzzer.commands.options import DRAIN_SECONDS, JsonFlag, LanesGlob, PreloadFile
from fuzzer.commands.progress import working
from fuzzer.commands.selection import lanes_named
from fuzzer.isolate.fleet import Fleet
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains.lanes import in_toolchains
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST
from fuzzer.watching.watch import watched


def sweep(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the sweep, which is started or continued.")],
    ops: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Globs for PyTorch's operators (OpInfo names); by default all.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Samples of each operator and dtype; by default 2.")
    ] = None,
    lanes: LanesGlob = "*",
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after this many seconds.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests that run at the same time.")] = max(1, os.cpu_count() or 1),
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Run PyTorch's own samples of every operator through the lanes, and write the table DIR/sweep.html."""
    chosen = in_toolchains(lanes_named(lanes), (HOST,))
    find_all = finder(preload)
    say("taking PyTorch's samples (a minute for all operators) ...")
    with working("taking samples", lambda: "no sample is kept; the next sweep takes them again"):
        task = sweeping.Sweep(out, sweeping.gather(out, ops, samples))
    stop_requested = to_stop()
    with Store(out, None) as store, Fleet(store.scratch, find_all, tell=say) as executor:
        triage = TriageLimits(drain=math.inf if seconds is None else DRAIN_SECONDS)
        settings = Settings(
            out, store.state.seed, LaneMix(chosen), RunLimits(seconds), triage=triage, workers=workers, json=json
        )
        warm_up(executor, (), stop_requested)
        campaign = Campaign(settings, store, executor, task.case, task.watch)
        obey_signals(campaign, stop_requested)
        with watched(campaign):
            campaign.run()
        table = task.write_table()
    if json:
        print_json({"samples": table.samples, "done": table.done, "totals": table.totals})
        return
    for lane, counts in table.totals.items():
        echo(f"{lane:20} " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    again = ("sweep", "--out", out) if table.done < table.samples else ("triage", "--campaign", out)
    echo(f"{table.done} of {table.samples} samples; table: {out / 'sweep.html'}; {next_line(*again)}")
