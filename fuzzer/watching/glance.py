"""What a campaign has seen, at a glance: counts, and the first causes in a few words. It takes little memory, so a
campaign that runs keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings.severity import Level
from fuzzer.system.terminal import campaign_option, command
from fuzzer.watching.cause_lines import confirmed_line, others_line, provisional_line, replay
from fuzzer.watching.causes import CauseCounts, Causes
from fuzzer.watching.formatting import number_of
from fuzzer.watching.ranking import Family
from fuzzer.watching.titles import Titles, sighting_title

MOST = 20
"""How many causes of each list have a line."""


@dataclass(frozen=True, slots=True)
class ConfirmedLine:
    """A confirmed cause: its level, its title, whether one of its findings is new in this run, and when the latest one
    was found, as Unix time."""

    level: Level
    text: str
    is_new: bool
    found: float = 0.0


@dataclass(frozen=True, slots=True)
class ProvisionalLine:
    """A cause that is not confirmed yet: what was seen and its suspect. `sighting` is the one that stands for it."""

    sightings: int
    text: str
    sighting: str


@dataclass(frozen=True, slots=True)
class Glance:
    """`confirmed` and `provisional` have the first causes, those with new findings before the others, and none of which
    all findings ship with difftvm. `counts` counts all, and `new` the new findings in TVM."""

    counts: CauseCounts
    new: int = 0
    confirmed: tuple[ConfirmedLine, ...] = ()
    provisional: tuple[ProvisionalLine, ...] = ()


def glance(causes: Causes, new: Collection[str] = (), titles: Titles | None = None) -> Glance:
    """`new` has the names of the findings of this run."""
    read = titles or Titles()
    count = {family.lead.doc.slug: _of(family, new) for family in causes.confirmed}
    own = [family for family in causes.confirmed if _of(family, causes.shipped) < len(family.members)]
    own.sort(key=lambda family: not count[family.lead.doc.slug])
    return Glance(
        causes.counts,
        sum(count.values()),
        tuple(_confirmed(family, causes, read, is_new=count[family.lead.doc.slug] > 0) for family in own[:MOST]),
        tuple(map(_provisional, causes.provisional[:MOST])),
    )


def _of(family: Family, slugs: Collection[str]) -> int:
    return sum(each.doc.slug in slugs for each in family.members)


def _confirmed(family: Family, causes: Causes, titles: Titles, *, is_new: bool) -> ConfirmedLine:
    doc, level = family.lead.doc, family.lead.severity.level
    found = max(each.doc.found for each in family.members)
    return ConfirmedLine(level, titles.of(causes.folders[doc.slug], doc), is_new, found)


def _provisional(cause: Cause) -> ProvisionalLine:
    return ProvisionalLine(len(cause.members), sighting_title(cause.lead), cause.lead.slug)


def confirmed_lines(causes: Glance, campaign: Path, most: int) -> Iterator[str]:
    """How many causes are confirmed, and the first `most` of them."""
    yield confirmed_line(causes.counts)
    yield from (f"  {cause.level:8}  {cause.text}" for cause in causes.confirmed[:most])
    if more := causes.counts.confirmed - sum(causes.counts.known.values()) - len(causes.confirmed[:most]):
        yield f"  and {more} more; `{_lists(campaign)}` lists them"


def waiting_lines(causes: Glance, campaign: Path, most: int) -> Iterator[str]:
    """How many causes are not confirmed, the first `most` of them, and what other components are to blame for."""
    if line := provisional_line(causes.counts.provisional, causes.counts.sightings):
        yield line
    for cause in causes.provisional[:most]:
        yield f"  {number_of(cause.sightings, 'sighting')}: {cause.text}"
        yield f"      {replay(campaign, cause.sighting)}"
    if causes.counts.provisional > most:
        yield f"  and {causes.counts.provisional - most} more; `{_lists(campaign)}` lists them"
    if line := others_line(causes.counts):
        yield line


def _lists(campaign: Path) -> str:
    return command("triage", *campaign_option(campaign))
