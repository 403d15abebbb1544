"""`fuzz triage --work`: investigates the sightings that wait in a campaign, without tests."""

from __future__ import annotations

import math
from pathlib import Path

from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.settings import SCOPES, LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store import Store
from fuzzer.isolate.fleet import Fleet
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains.lanes import named
from fuzzer.toolchains.registry import finder
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import lacking_line, number_of, waiting_line
from fuzzer.watching.on_disk import waiting_in
from fuzzer.watching.watch import watched


def work(campaign: Path, seconds: float | None, workers: int, releases: str, preload: Path | None, json: bool) -> None:
    """Investigate what waits and what is parked, until nothing is left or the time is up."""
    before = sum(waiting_in(campaign))
    if not before:
        _report(campaign, None, json)
        return
    others = [other.name for other in named(releases)] if releases else []
    find_all = finder(preload)
    with Store(campaign, None) as store:
        settings = Settings(
            campaign,
            store.state.seed,
            LaneMix(),
            RunLimits(tests=0),
            triage=TriageLimits(share=1.0, drain=math.inf if seconds is None else seconds, scopes=SCOPES),
            workers=workers,
            releases=tuple(others),
            json=json,
        )
        stop_requested = to_stop()
        say(f"{number_of(before, 'sighting')} waiting for triage; warming up the compilers ...")
        keep_memory_tight()
        with Fleet(store.scratch, find_all, tell=say) as executor:
            warm_up(executor, others, stop_requested)
            task = Campaign(settings, store, executor)
            task.triage.queue.unpark()
            with watched(task):
                obey_signals(task, stop_requested)
                task.run()
        _report(campaign, task, json)


def _report(campaign: Path, task: Campaign | None, json: bool) -> None:
    new = task.triage.new if task else []
    waiting, parked = waiting_in(campaign)
    done, lacking = (task.triage.done, task.triage.queue.lacking) if task else (0, {})
    if json:
        print_json(
            {
                "investigated": done,
                "waiting": waiting,
                "parked": parked,
                "lacking": lacking,
                "new": [doc.slug for doc in new],
            }
        )
        return
    if task is None:
        echo(f"no sighting waits for triage; {next_line('triage', '--campaign', campaign)}")
        return
    findings = number_of(len(new), "new finding") + (":" if new else "")
    echo(f"{number_of(done, 'sighting')} investigated in {task.progress.seconds:.0f} s; {findings}")
    for doc in sorted(new, key=lambda doc: (doc.component, doc.slug)):
        echo(f"  {found_line(doc)}")
    for line in (waiting_line(waiting, parked, campaign), lacking_line(lacking)):
        if line:
            echo(line)
    echo(next_line("triage", "--campaign", campaign))
