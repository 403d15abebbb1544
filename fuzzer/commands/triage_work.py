"""`fuzz triage --work`: investigates the sightings that wait in a campaign, without tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.plan.settings import SCOPES, LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.start import WARM_UP, obey_signals, to_stop, warm_up
from fuzzer.campaign.store.store import Store
from fuzzer.commands.progress import working
from fuzzer.findings.finding_file import CRASHES
from fuzzer.findings.named import finding_named
from fuzzer.isolate.fleet import Fleet
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import campaign_option, command, echo, next_line, print_json, say
from fuzzer.toolchains.lanes import named
from fuzzer.toolchains.registry import finder
from fuzzer.watching.cause_lines import provisional_line
from fuzzer.watching.causes import Causes, causes_in
from fuzzer.watching.entries import Facts, entries
from fuzzer.watching.formatting import lacking_line, number_of, waiting_line
from fuzzer.watching.ranking import listed_in
from fuzzer.watching.titles import Titles
from fuzzer.watching.watch import watched
from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """`cause` names a sighting of the only cause to investigate. `seconds` is a limit."""

    cause: str | None
    seconds: float | None
    workers: int

    def of_triage(self, only: frozenset[str]) -> TriageLimits:
        return TriageLimits(1.0, math.inf if self.seconds is None else self.seconds, SCOPES, only)


def work(campaign: Path, limits: WorkLimits, releases: str, preload: Path | None, json: bool) -> None:
    """Investigate what waits and what is parked, or one cause alone, until nothing is left or the time is up."""
    causes = causes_in(campaign)
    counts = causes.counts
    chosen = members_of(causes, limits.cause) if limits.cause is not None else frozenset()
    before = len(chosen) or counts.waiting + counts.other_waiting + counts.parked
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
            triage=limits.of_triage(chosen),
            workers=limits.workers,
            releases=tuple(others),
            json=json,
        )
        stop_requested = to_stop()
        say(f"{number_of(before, 'sighting')} to investigate")
        say(WARM_UP)
        keep_memory_tight()
        with Fleet(store.scratch, find_all, tell=say) as executor:
            executor.give_up = stop_requested.is_set
            with working("warm-up", lambda: ""):
                warm_up(executor, others, stop_requested)
            task = Campaign(settings, store, executor)
            executor.give_up = lambda: task.is_stopped
            if not chosen:
                task.triage.queue.unpark()
            if not stop_requested.is_set():
                with watched(task):
                    obey_signals(task, stop_requested)
                    task.run()
        _report(campaign, task, json)


def members_of(causes: Causes, named: str) -> frozenset[str]:
    """The sightings of the provisional cause that one of them names. Raise `Invalid` where there is none."""
    name = finding_named(named, causes.campaign).name
    for cause in (*causes.provisional, *causes.other_provisional):
        members = frozenset(doc.slug for doc in cause.members)
        if name in members:
            return members
    lists = command("triage", "--all", *campaign_option(causes.campaign))
    raise Invalid(f"{named}: no sighting of this name waits; `{lists}` lists them")


def _report(campaign: Path, task: Campaign | None, json: bool) -> None:
    new = task.triage.new if task else []
    counts = causes_in(campaign).counts
    done, lacking = (task.triage.done, task.triage.queue.lacking) if task else (0, {})
    if json:
        print_json(
            {
                "investigated": done,
                "waiting": counts.waiting,
                "parked": counts.parked,
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
    order = listed_in(campaign / CRASHES / doc.slug for doc in new)
    for line in entries(order, Facts.of_new(campaign, new), Titles(), len(new), len(new)):
        echo(line)
    for line in (
        provisional_line(counts.provisional, counts.sightings),
        waiting_line(counts.waiting, counts.parked, campaign),
        lacking_line(lacking),
    ):
        if line:
            echo(line)
    echo(next_line("triage", *campaign_option(campaign)))
