"""The causes of a campaign in words. All views use these lines, so their counts agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.severity import Level
from fuzzer.system.terminal import campaign_option, command
from fuzzer.watching.causes import CauseCounts, Causes
from fuzzer.watching.formatting import number_of
from fuzzer.watching.ranking import KNOWN, UNSPECIFIED
from fuzzer.watching.titles import sighting_title

MOST_SUSPECTS = 6
"""The most operators that are named for the further sightings of a cause."""


def confirmed_line(counts: CauseCounts) -> str:
    """How many causes in TVM are confirmed, by severity: those that are new in the last run, those that were found
    earlier, and those that ship with difftvm."""
    new, earlier, known = (sum(levels.values()) for levels in (counts.new, counts.earlier, counts.known))
    found = f"{number_of(counts.findings - counts.shipped, 'finding')}"
    parts = [f"{number_of(new, 'new cause')}: {by_level(counts.new)}"] if new else []
    if earlier and new:
        parts.append(f"{earlier} found earlier: {by_level(counts.earlier)}")
    elif earlier:
        parts.append(f"{number_of(earlier, 'confirmed cause')}: {by_level(counts.earlier)}")
    parts += [found] if parts else [] if known else ["no cause is confirmed yet"]
    parts += [known_line(counts)] if known else []
    return "; ".join(parts)


def known_line(counts: CauseCounts) -> str:
    """How many known causes ship with difftvm, and how many of them were met."""
    known, met = sum(counts.known.values()), counts.known_met
    ship = "ships" if known == 1 else "ship"
    return f"{number_of(known, 'known cause')} {ship} with difftvm, {met or 'none'} of them met"


def by_level(levels: Mapping[Level, int]) -> str:
    return ", ".join(f"{count} {level}" for level, count in levels.items())


def apart_line(causes: Causes) -> str:
    """What is counted and not listed, in TVM; "" where there is nothing."""
    more = sum(len(causes.duplicates.get(each.doc.slug, ())) for family in causes.families for each in family.members)
    known, unspecified = causes.apart.get(KNOWN, 0), causes.apart.get(UNSPECIFIED, 0)
    words = [
        number_of(more, "duplicate") if more else "",
        f"{known} of known behaviour" if known else "",
        f"{unspecified} that TVM leaves unspecified" if unspecified else "",
    ]
    return f"counted and not listed: {', '.join(filter(None, words))}" if any(words) else ""


def provisional_line(causes: int, sightings: int) -> str:
    """How many causes are not confirmed; "" where there is none."""
    counted = f"{number_of(causes, 'cause')}, seen in {number_of(sightings, 'sighting')}"
    return f"not confirmed yet: {counted}" if causes else ""


def others_line(counts: CauseCounts) -> str:
    """What other components are to blame for; "" where there is nothing."""
    found = number_of(counts.other_findings, "finding") if counts.other_findings else ""
    waiting = number_of(counts.other_waiting, "sighting") if counts.other_waiting else ""
    counted = ", ".join(filter(None, (found, waiting)))
    return f"not TVM's ({', '.join(counts.components)}): {counted}" if counted else ""


def lines_of_provisional(campaign: Path, listed: Iterable[Cause]) -> Iterator[str]:
    """Provisional causes in a list: what was seen, the suspect, and how to run one sighting again."""
    for cause in listed:
        yield f"  {sighting_title(cause.lead)}"
        yield f"      {number_of(len(cause.members), 'sighting')}; {cause.lead.suspect.words}"
        yield f"      {replay(campaign, cause.lead.slug)}"


def further_line(doc: FindingDoc, further: Sequence[FindingDoc]) -> str:
    """How many further sightings of a finding's cause wait. Another operator may be at fault in some of them: these
    operators are named, those of most sightings first."""
    suspects = Counter(each.suspect.operators[0] for each in further if len(each.suspect.operators) == 1)
    others = [operator for operator, _ in suspects.most_common() if operator not in doc.ops]
    wait, some = ("waits", "") if len(further) == 1 else ("wait", "some ")
    such = ", such as" if len(others) > MOST_SUSPECTS else ":"
    named = f", {some}with another suspect{such} {', '.join(others[:MOST_SUSPECTS])}" if others else ""
    return f"{number_of(len(further), 'further sighting')} {wait} for triage{named}"


def replay(campaign: Path, sighting: str) -> str:
    """The command that runs a sighting again."""
    return command("--replay", short_name(sighting), *campaign_option(campaign))


def short_name(sighting: str) -> str:
    """The end of a sighting's name, which is its own: the digits of its failure and of its case. Commands take it."""
    return "-".join(sighting.rsplit("-", 2)[-2:])
