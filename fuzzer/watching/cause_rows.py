"""The causes of a campaign as data, for `--json` and for the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings import upstream
from fuzzer.findings.headline import headline
from fuzzer.watching.causes import Causes
from fuzzer.watching.ranking import Family
from fuzzer.watching.titles import Titles, sighting_title


@dataclass(frozen=True, slots=True)
class ConfirmedRow:
    """A confirmed cause. `slug` names its most severe finding, and `findings` counts all. `related` has what is perhaps
    known of it upstream.

    title   that of the first finding's report; "" where the caller has it
    is_new  whether the last run found one of its findings
    known   whether its findings ship with difftvm
    met     how many tests met it
    found   when its latest finding was found, as Unix time; 0 where that is not known
    members the names of its findings, the most severe first
    """

    level: str
    title: str
    is_new: bool
    known: bool
    met: int
    found: float
    members: Sequence[str]
    slug: str
    kind: str
    component: str
    ops: Sequence[str]
    findings: int
    reasons: Sequence[str]
    related: Sequence[str]


@dataclass(frozen=True, slots=True)
class ProvisionalRow:
    """A cause that is not confirmed yet.

    suspect    in words; `operators` are the suspected ones
    title      the suspect, and what was seen
    message    what was seen, in one sentence
    members    the sightings, by the names of their folders; the first stands for the cause (`fuzz triage --work` takes
               any of them)
    replay     the command that runs it again
    """

    kind: str
    component: str
    lane: str
    operators: Sequence[str]
    suspect: str
    title: str
    message: str
    sightings: int
    members: Sequence[str]
    replay: str


@dataclass(frozen=True, slots=True)
class CauseRows:
    """`confirmed` and `provisional` are of TVM, the others of other components. The most severe ones come first."""

    confirmed: Sequence[ConfirmedRow]
    provisional: Sequence[ProvisionalRow]
    other_confirmed: Sequence[ConfirmedRow]
    other_provisional: Sequence[ProvisionalRow]


def rows_of(causes: Causes, replay: Callable[[str], str], titles: Titles | None = None) -> CauseRows:
    """`replay` returns the command that runs a sighting again, of which it gets the name. `titles` reads the titles of
    findings: some milliseconds for each."""
    return CauseRows(
        [_confirmed(family, causes, titles) for family in causes.confirmed],
        [_provisional(cause, replay) for cause in causes.provisional],
        [_confirmed(family, causes, titles) for family in causes.other_confirmed],
        [_provisional(cause, replay) for cause in causes.other_provisional],
    )


def _confirmed(family: Family, causes: Causes, titles: Titles | None) -> ConfirmedRow:
    doc, severity = family.lead.doc, family.lead.severity
    related = [str(row) for row in upstream.related(doc)]
    ops = list(dict.fromkeys(doc.ops))
    slugs = [each.doc.slug for each in family.members]
    return ConfirmedRow(
        severity.level,
        titles.of(causes.folders[doc.slug], doc) if titles else "",
        causes.is_new(family),
        causes.is_known(family),
        sum(causes.met.get(slug, 0) for slug in slugs),
        max(each.doc.found for each in family.members),
        slugs,
        doc.slug,
        doc.kind,
        doc.component,
        ops,
        len(family.members),
        severity.reasons,
        related,
    )


def _provisional(cause: Cause, replay: Callable[[str], str]) -> ProvisionalRow:
    doc, suspect = cause.lead, cause.lead.suspect
    return ProvisionalRow(
        doc.kind,
        doc.component,
        doc.lane.name,
        suspect.operators,
        suspect.words,
        sighting_title(doc),
        headline(doc.finding),
        len(cause.members),
        [member.slug for member in cause.members],
        replay(doc.slug),
    )
