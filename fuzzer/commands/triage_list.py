"""What `fuzz triage` lists: confirmed causes, provisional ones, and what is only counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings import upstream
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.related import causes as causes_of_others
from fuzzer.system.terminal import campaign_option, command, next_line
from fuzzer.watching.cause_lines import (
    apart_line,
    confirmed_line,
    further_line,
    lines_of_provisional,
    others_line,
    provisional_line,
    replay,
)
from fuzzer.watching.causes import Causes, sightings_in
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import number_of, waiting_line
from fuzzer.watching.ranking import Family, Grouping, grouped, lines_of
from oracles.finding import Component


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the user wants to see.

    by          what confirmed causes are grouped by
    most        how many causes of each list; None lists all findings of all, and what other components are to blame for
    component   only what this component is to blame for
    """

    by: Grouping
    most: int | None
    component: Component | None

    def families(self, causes: Causes) -> list[Family]:
        if self.component:
            every = (*causes.confirmed, *causes.other_confirmed)
            return [family for family in every if family.lead.doc.component is self.component]
        return [*causes.confirmed, *(() if self.most else causes.other_confirmed)]

    def provisional(self, causes: Causes) -> list[Cause]:
        if self.component:
            every = (*causes.provisional, *causes.other_provisional)
            return [cause for cause in every if cause.lead.component is self.component]
        return [*causes.provisional, *(() if self.most else causes.other_provisional)]


def lines(causes: Causes, chosen: Chosen) -> Iterator[str]:
    families = chosen.families(causes)
    yield from _confirmed(families, causes, chosen)
    yield from _provisional(causes, chosen)
    if not chosen.component and (others := others_line(causes.counts)):
        yield f"{others}; --component lists them" if chosen.most else others
    if counted := apart_line(causes):
        yield f"{counted} (--known, --json)"
    waiting = waiting_line(causes.counts.waiting, causes.parked, causes.campaign)
    if not families:
        yield _nothing(causes, waiting)
        return
    if waiting:
        yield waiting
    unreadable = f"; {len(causes.unreadable)} cannot be read" if causes.unreadable else ""
    first = causes.folders[families[0].lead.doc.slug]
    yield f"{confirmed_line(causes.counts)}{unreadable}; {next_line('--replay', first)}"


def _confirmed(families: Sequence[Family], causes: Causes, chosen: Chosen) -> Iterator[str]:
    caused = causes_of_others(each.doc for family in families for each in family.members)
    shown = {family.lead.doc.slug for family in families[: chosen.most]}
    for name, some in grouped(families, chosen.by).items():
        listed = [family for family in some if family.lead.doc.slug in shown]
        yield f"{name}: {number_of(len(some), 'cause')}{'' if listed else ', not listed'}"
        for family in listed:
            yield from _family(family, causes, caused, whole=chosen.most is None)
        if listed and len(listed) < len(some):
            yield f"  and {len(some) - len(listed)} more"
    if len(shown) < len(families):
        yield f"`{_lists_all(causes.campaign)}` lists all"


def _lists_all(campaign: Path) -> str:
    return command("triage", "--all", *campaign_option(campaign))


def _family(family: Family, causes: Causes, caused: Mapping[str, FindingDoc], *, whole: bool) -> Iterator[str]:
    yield from lines_of(family)
    for each in family.members if whole else [family.lead]:
        doc = each.doc
        if each is not family.lead:
            yield f"        {found_line(doc)}"
        yield from (f"      perhaps known upstream: {row}" for row in upstream.related(doc))
        yield from (f"      and {other.slug}: {other.why}" for other in causes.duplicates[doc.slug])
        if further := causes.further.get(doc.slug):
            yield f"      {further_line(doc, further)}"
            yield from (f"        {replay(causes.campaign, each.slug)}" for each in further if whole)
        cause = caused.get(doc.signature)
        if cause and all(cause.slug != other.doc.slug for other in family.members):
            yield f"      perhaps a consequence of {cause.slug}"


def _provisional(causes: Causes, chosen: Chosen) -> Iterator[str]:
    every = chosen.provisional(causes)
    if not every:
        return
    yield provisional_line(len(every), sightings_in(every))
    listed = every[: chosen.most]
    yield from lines_of_provisional(causes.campaign, listed)
    if len(listed) < len(every):
        yield f"  and {len(every) - len(listed)} more; `{_lists_all(causes.campaign)}` lists all"
    yield f"  `{command('triage', *campaign_option(causes.campaign), '--work', 'FOLDER')}` investigates one of them now"


def _nothing(causes: Causes, waiting: str) -> str:
    """The last line where there is no finding to list."""
    crashes, some = causes.campaign / "crashes", causes.unreadable
    if some:
        return f"{number_of(len(some), 'finding')} that cannot be read, no other; next: move them out of {crashes}"
    return f"no findings yet; {waiting}" if waiting else f"no findings; {_next_run(causes.campaign)}"


def _next_run(campaign: Path) -> str:
    return next_line("run", *campaign_option(campaign))
