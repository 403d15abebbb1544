"""What `fuzz triage` lists: confirmed causes, provisional ones, and what is only counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings import condition, upstream
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
    short_name,
)
from fuzzer.watching.causes import Age, Causes, sightings_in
from fuzzer.watching.entries import Facts, entry
from fuzzer.watching.formatting import number_of, waiting_line
from fuzzer.watching.ranking import Family, Grouping, details_of, grouped
from fuzzer.watching.titles import Titles
from oracles.finding import Component


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the user wants to see.

    by          what confirmed causes are grouped by
    most        how many causes of each list; None lists all findings of all, and what other components are to blame for
    component   only what this component is to blame for
    new         only what the last run found
    since       only what was found since, as Unix time
    """

    by: Grouping
    most: int | None
    component: Component | None
    new: bool = False
    since: float | None = None

    def families(self, causes: Causes) -> list[Family]:
        every = [*causes.confirmed, *causes.other_confirmed]
        if self.component:
            every = [family for family in every if family.lead.doc.component is self.component]
        elif self.most:
            every = list(causes.confirmed)
        return [family for family in every if self._is_in_time(family, causes)]

    def _is_in_time(self, family: Family, causes: Causes) -> bool:
        found = [each.doc.found for each in family.members if each.doc.slug not in causes.shipped]
        after = self.since is None or any(at >= self.since for at in found)
        return after and (not self.new or causes.is_new(family))

    def provisional(self, causes: Causes) -> list[Cause]:
        if self.component:
            every = (*causes.provisional, *causes.other_provisional)
            return [cause for cause in every if cause.lead.component is self.component]
        return [*causes.provisional, *(() if self.most else causes.other_provisional)]


@dataclass(slots=True)
class Listed:
    """The lines of `fuzz triage`, and the folders of the causes in the order in which they are numbered."""

    causes: Causes
    chosen: Chosen
    folders: list[Path] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        causes, chosen = self.causes, self.chosen
        families = chosen.families(causes)
        yield from self._confirmed(families)
        yield from _provisional(causes, chosen)
        if not chosen.component and (others := others_line(causes.counts)):
            yield f"{others}; --component lists them" if chosen.most else others
        if counted := apart_line(causes):
            yield f"{counted} (--known, --json)"
        waiting = waiting_line(causes.counts.waiting, causes.parked, causes.campaign)
        if not families:
            yield _nothing(causes, chosen, waiting)
            return
        if waiting:
            yield waiting
        if missing := self._without_condition(families):
            yield missing
        unreadable = f"; {len(causes.unreadable)} cannot be read" if causes.unreadable else ""
        shows = next_line("show", 1) if self.folders else next_line("triage", "--all")
        yield f"{confirmed_line(causes.counts)}{unreadable}; {shows}"

    def _without_condition(self, families: Sequence[Family]) -> str:
        """How many causes have no condition yet, and the command that looks for one; "" where none lacks it."""
        causes = self.causes
        docs = [family.lead.doc for family in families if not causes.is_known(family)]
        missing = [causes.folders[doc.slug] for doc in docs if condition.missing(doc)]
        shown = next((number for number, folder in enumerate(self.folders, 1) if folder in missing), 0)
        if not missing:
            return ""
        looks = command("scope", shown or missing[0])
        return f"{condition.MISSING}: {number_of(len(missing), 'cause')}; `{looks}` looks for the first of them"

    def _confirmed(self, families: Sequence[Family]) -> Iterator[str]:
        causes, chosen = self.causes, self.chosen
        caused = causes_of_others(each.doc for family in families for each in family.members)
        facts, titles, number = Facts.of(causes), Titles(), count(1)
        numbers: dict[str, int] = {}
        groups = _by_age(families, causes) if chosen.by is Grouping.AGE else grouped(families, chosen.by)
        shown = _first([family for some in groups.values() for family in some], chosen.most)
        for name, some in groups.items():
            listed = [family for family in some if family.lead.doc.slug in shown]
            yield f"{name}: {number_of(len(some), 'cause')}{'' if listed else ', not listed'}"
            for family in listed:
                slug = family.lead.doc.slug
                if slug not in numbers:  # a cause may be in several groups
                    numbers[slug] = next(number)
                    self.folders.append(causes.folders[slug])
                yield entry(family, facts, titles, numbers[slug])
                yield from _below(family, causes, caused, whole=chosen.most is None)
            if listed and len(listed) < len(some):
                yield f"  and {len(some) - len(listed)} more"
        if len(shown) < len(families):
            yield f"`{_lists_all(causes.campaign)}` lists all"


def _first(families: Sequence[Family], most: int | None) -> set[str]:
    """The names of the first causes."""
    return set(list(dict.fromkeys(family.lead.doc.slug for family in families))[:most])


def _by_age(families: Iterable[Family], causes: Causes) -> dict[str, list[Family]]:
    """What the last run found comes first; each group has the most severe cause first."""
    groups: dict[Age, list[Family]] = {age: [] for age in Age}
    for family in families:
        groups[causes.age(family)].append(family)
    return {str(age): some for age, some in groups.items() if some}


def _lists_all(campaign: Path) -> str:
    return command("triage", "--all", *campaign_option(campaign))


def _below(family: Family, causes: Causes, caused: Mapping[str, FindingDoc], *, whole: bool) -> Iterator[str]:
    """The lines below that of a cause: with `whole`, all that is known of it."""
    if whole:
        yield from details_of(family)
    for each in family.members if whole else [family.lead]:
        doc = each.doc
        if each is not family.lead:
            yield f"        {doc.slug}  {', '.join(doc.ops)}"
        yield from (f"      perhaps known upstream: {row}" for row in upstream.related(doc))
        yield from (f"      and {other.slug}: {other.why}" for other in causes.duplicates[doc.slug])
        if further := causes.further.get(doc.slug):
            yield f"      {further_line(doc, further)}"
            yield from _replays(further, causes.campaign) if whole else ()
        cause = caused.get(doc.signature)
        if cause and all(cause.slug != other.doc.slug for other in family.members):
            yield f"      perhaps a consequence of {cause.slug}"


MOST_REPLAYS = 3
"""How many further sightings of one finding are listed."""


def _replays(further: Sequence[FindingDoc], campaign: Path) -> Iterator[str]:
    """How to run the further sightings of a finding again: the first ones, and what to do with the others."""
    yield from (f"        {replay(campaign, each.slug)}" for each in further[:MOST_REPLAYS])
    if len(further) > MOST_REPLAYS:
        work = command("triage", *campaign_option(campaign), "--work")
        yield f"        and {len(further) - MOST_REPLAYS} more: `{work}` investigates them"


def _provisional(causes: Causes, chosen: Chosen) -> Iterator[str]:
    every = chosen.provisional(causes)
    if not every:
        return
    yield provisional_line(len(every), sightings_in(every))
    listed = every[: chosen.most]
    yield from lines_of_provisional(causes.campaign, listed)
    if len(listed) < len(every):
        yield f"  and {len(every) - len(listed)} more; `{_lists_all(causes.campaign)}` lists all"
    work = command("triage", *campaign_option(causes.campaign), "--work", short_name(listed[0].lead.slug))
    yield f"  `{work}` investigates the first of them now"


def _nothing(causes: Causes, chosen: Chosen, waiting: str) -> str:
    """The last line where there is no finding to list."""
    crashes, some = causes.campaign / "crashes", causes.unreadable
    if some:
        return f"{number_of(len(some), 'finding')} that cannot be read, no other; next: move them out of {crashes}"
    if causes.confirmed and (chosen.new or chosen.since is not None):
        return f"{_why_nothing(causes, chosen)}; {confirmed_line(causes.counts)}; {_next_run(causes.campaign)}"
    return f"no findings yet; {waiting}" if waiting else f"no findings; {_next_run(causes.campaign)}"


def _why_nothing(causes: Causes, chosen: Chosen) -> str:
    if not chosen.new:
        return "nothing was found since then"
    return "the last run found nothing" if causes.began is not None else "no run is recorded here"


def _next_run(campaign: Path) -> str:
    return next_line("run", *campaign_option(campaign))
