"""What `fuzz run` prints at the end of a run on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.layout import ERRORS
from fuzzer.campaign.store.store import Store
from fuzzer.filing.gates import may_be_filed
from fuzzer.system import last_list
from fuzzer.system.devices import Device
from fuzzer.system.terminal import campaign_option, command, echo, next_line, print_json
from fuzzer.watching.cause_lines import confirmed_line, replay
from fuzzer.watching.cause_rows import rows_of
from fuzzer.watching.causes import causes_in
from fuzzer.watching.entries import Facts, entries
from fuzzer.watching.formatting import (
    could_not_be_done,
    evaluated_wrongly,
    failed_by_itself,
    lacking_line,
    number_of,
    waiting_line,
)
from fuzzer.watching.glance import glance, waiting_lines
from fuzzer.watching.ranking import Family, listed_in
from fuzzer.watching.titles import Titles
from oracles.finding import Component

CAUSES_SHOWN = 3
"""How many causes that are not confirmed are shown."""

NEW_SHOWN = 10
"""How many new causes the end of a run lists."""


def summarise(
    task: Campaign, store: Store, quarantined: Mapping[Device, str], preload: Path | None, own: Sequence[str] = ()
) -> None:
    """Print the campaign's counters as JSON; or, for people, what this run did and a line about the campaign."""
    findings, queue = sorted(store.findings.values(), key=lambda doc: doc.slug), task.triage.queue
    causes = causes_in(store.folder)
    counts = causes.counts
    if task.settings.json:
        listed = [
            {key: getattr(doc, key) for key in ("slug", "signature", "kind", "component", "lanes", "ops", "flaky")}
            for doc in findings
        ]
        gone = {str(device): reason for device, reason in quarantined.items()}
        rows = rows_of(causes, partial(replay, store.folder), Titles())
        waits = {"waiting": counts.waiting, "other_waiting": counts.other_waiting, "parked": counts.parked}
        more = {"lacking": queue.lacking, "quarantined": gone, "findings": listed, "causes": rows}
        print_json({**store.state.counters.summary(), **waits, **more})
        return
    run, counters = task.progress.counts, store.state.counters
    if line := task.settings.aim.line(task.guidance.covered_rows):
        echo(f"aim: {line}")
    new = [doc for doc in task.triage.new if doc.component is Component.TVM]
    found = number_of(len(new), "new finding") + (":" if new else "")
    echo(f"{number_of(run.tests, 'test')} in {task.progress.seconds:.0f} s; {run.invalid} invalid; {found}")
    order = listed_in(store.crashes / doc.slug for doc in new)
    if order:
        last_list.keep([store.crashes / family.lead.doc.slug for family in order[:NEW_SHOWN]])
    lists = command("triage", "--new", "--all", *campaign_option(store.folder))
    facts = Facts.of_new(store.folder, new)
    for line in entries(order, facts, Titles(), NEW_SHOWN, len(new), numbered=True, lists=lists):
        echo(line)
    if run.errors:
        echo(f"{could_not_be_done(run.errors)}: {os.path.relpath(store.folder / ERRORS)}")
    if broken := sum(counters.broken.values()):
        echo(f"{failed_by_itself(broken)}: {os.path.relpath(store.folder / ERRORS)}")
    if disagreements := sum(counters.evaluation_disagrees.values()):
        echo(f"{evaluated_wrongly(disagreements)}: {os.path.relpath(store.folder / ERRORS)}")
    in_all = f"{number_of(counters.tests, 'test')}, {counters.invalid} invalid"
    if counters.errors:
        in_all += f"; {could_not_be_done(counters.errors)}"
    echo(f"the campaign has {in_all}")
    echo(confirmed_line(counts), *waiting_lines(glance(causes), store.folder, CAUSES_SHOWN), sep="\n")
    for line in (waiting_line(counts.waiting, counts.parked, store.folder), lacking_line(queue.lacking)):
        if line:
            echo(line)
    for device, reason in quarantined.items():
        echo(f"{device} was given up: {reason}")
    echo(next_line(*_what_next(order, store, preload, own)))


def _what_next(new: Sequence[Family], store: Store, preload: Path | None, own: Sequence[str]) -> tuple[object, ...]:
    """The command to suggest: replay the first new finding that may be filed; else list the findings; else continue."""
    where = () if os.path.relpath(store.folder) == "." else ("--campaign", os.path.relpath(store.folder))
    loads = ("--preload", preload) if preload else ()
    passes = [word for name in own for word in ("--own-pass", name)]
    for family in new:
        for each in family.members:
            if may_be_filed(each.doc):
                return "--replay", os.path.relpath(store.crashes / each.doc.slug), *loads
    return ("triage", *where) if store.findings else ("run", *where, "--seconds", "600", *loads, *passes)
