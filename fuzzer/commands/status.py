"""`fuzz status`: a campaign as it is on disk. It may be running."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.store.judged_counts import JudgedCounts
from fuzzer.campaign.store.layout import ERRORS
from fuzzer.commands.options import JsonFlag
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.system.terminal import campaign_option, echo, next_line, print_json
from fuzzer.watching.causes import Causes, causes_in
from fuzzer.watching.formatting import (
    could_not_be_done,
    duration,
    evaluated_wrongly,
    failed_by_itself,
    number_of,
    shares,
    size,
    sparkline,
    waiting_line,
)
from fuzzer.watching.glance import confirmed_lines, glance, waiting_lines
from fuzzer.watching.judged_lines import judged_lines
from fuzzer.watching.lane_lines import LaneCounts, summary
from fuzzer.watching.lane_lines import lines as lane_lines
from fuzzer.watching.status import CURVE, Status, status_of
from fuzzer.watching.titles import title_of

CAUSES_SHOWN = 3
LANES_SHOWN = 8
ORIGINS_SHOWN = 10

CampaignFolder = Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")]


def status(
    campaign: CampaignFolder = Path("."),
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild the index from the files.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show how a campaign is doing, from any shell. With --repair, rebuild its index; nothing is deleted."""
    if repair:
        from fuzzer.campaign.store import store  # it loads the lanes and the reports: 0.1 s

        kept = store.repair(campaign)
        typer.echo(f"the index agrees with the files{f'; the damaged one is {kept}' if kept else ''}", err=True)
    causes = causes_in(campaign)
    found = status_of(campaign, causes)
    if json:
        print_json(found)
    else:
        echo(*_lines(found, causes), sep="\n")


def _lines(found: Status, causes: Causes) -> Iterator[str]:
    who = f"process {found.holder} runs it" if found.holder else "not running"
    own = f"{number_of(found.own_tests, 'test')} done{' here' if found.origins else ''}"
    yield f"{found.campaign}: seed {found.seed}, {own}, {who}"
    books = found.books
    clock = duration(books["wall_seconds"])
    together = f" of {found.campaigns} campaigns together" if found.campaigns > 1 else ""
    tests = number_of(books["tests"], "test")
    results = number_of(books["lane_results"], "lane result")
    yield f"{clock}: {tests}, {results}{together}{_lately(found)}"
    if found.aim:
        yield f"aim: {found.aim}"
    first = glance(causes)
    yield from confirmed_lines(first, Path(found.campaign), CAUSES_SHOWN)
    yield from waiting_lines(first, Path(found.campaign), CAUSES_SHOWN)
    if line := waiting_line(found.waiting, found.parked, Path(found.campaign)):
        yield f"{line}; triage has had {books['triage_used']:.0%} of the CPU of lanes"
    if found.latest:
        ago = duration(max(0.0, time.time() - found.latest_at))
        title = title_of(causes.folders[found.latest], latest) if (latest := _doc(causes, found.latest)) else ""
        shown = f"{title}  {found.latest}" if title else found.latest
        yield f"latest finding, {ago} ago: {shown}"
    if found.flaky:
        yield f"{number_of(found.flaky, 'finding')} that {'does' if found.flaky == 1 else 'do'} not fail each time"
    if errors := books["errors"]:
        yield f"!! {could_not_be_done(errors)}{_location(Path(found.campaign) / ERRORS)}"
    if broken := sum(books["broken"].values()):
        yield f"!! {failed_by_itself(broken)}{_location(Path(found.campaign) / ERRORS)}"
    if disagreements := sum(books["evaluation_disagrees"].values()):
        yield f"!! {evaluated_wrongly(disagreements)}{_location(Path(found.campaign) / ERRORS)}"
    if found.filing:
        yield f"!! {found.filing}"
    if found.unreadable:
        yield f"!! {number_of(len(found.unreadable), 'finding')} that cannot be read: {found.unreadable[0]}"
    findings = [*(point[4] for point in found.curve), sum(found.findings.values())]
    if any(findings):
        yield f"findings over time {sparkline(findings, CURVE)}"
    if found.memory:
        yield "memory: " + ", ".join(f"{name} {size(amount)}" for name, amount in found.memory.items())
    if stages := msgspec.convert(books["stage_cpu_seconds"], dict[str, float]):
        yield f"time goes to {shares(stages, 5)}"
    yield from judged_lines(msgspec.convert(books["judged"], JudgedCounts))
    if found.known:
        yield f"known behaviour met in {number_of(sum(found.known.values()), 'test')}"
    for name, seed, count in found.origins[:ORIGINS_SHOWN]:
        yield f"merged: {number_of(count, 'test')} of seed {seed} ({name[:12]})"
    if len(found.origins) > ORIGINS_SHOWN:
        yield f"merged: and {len(found.origins) - ORIGINS_SHOWN} more (--json)"
    lanes = [LaneCounts(lane, counts, lane in found.failing) for lane, counts in found.lanes.items()]
    if line := summary(lanes):
        yield line
        yield from lane_lines(lanes, LANES_SHOWN)
    yield next_line("triage", *campaign_option(Path(found.campaign)))


def _doc(causes: Causes, slug: str) -> FindingDoc | None:
    """The finding of this name; None where it is a duplicate."""
    docs = (each.doc for family in causes.families for each in family.members)
    return next((doc for doc in docs if doc.slug == slug), None)


def _location(errors: Path) -> str:
    """The folder of errors, if there is one: a merged campaign keeps its errors in its own folder."""
    return f": {errors}" if errors.exists() else ""


def _lately(found: Status) -> str:
    if not found.tests_per_second:
        return "" if found.origins else "; rates are not known yet"
    lately = "; lately here" if found.origins else "; lately"
    return f"{lately} {found.tests_per_second:.2f} tests and {found.lane_results_per_second:.1f} lane results a second"
