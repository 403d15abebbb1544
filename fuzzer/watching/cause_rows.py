"""The causes of a campaign as data, for `--json` and for the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.campaign.triage.provisional import Cause
from fuzzer.findings import upstream
from fuzzer.findings.headline import headline
from fuzzer.watching.causes import Causes
from fuzzer.watching.ranking import Family


@dataclass(frozen=True, slots=True)
class ConfirmedRow:
    """A confirmed cause. `slug` names its most severe finding, and `findings` counts all. `related` has what is perhaps
    known of it upstream."""

    level: str
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


def rows_of(causes: Causes, replay: Callable[[str], str]) -> CauseRows:
    """`replay` returns the command that runs a sighting again, of which it gets the name."""
    return CauseRows(
        [_confirmed(family) for family in causes.confirmed],
        [_provisional(cause, replay) for cause in causes.provisional],
        [_confirmed(family) for family in causes.other_confirmed],
        [_provisional(cause, replay) for cause in causes.other_provisional],
    )


def _confirmed(family: Family) -> ConfirmedRow:
    doc, severity = family.lead.doc, family.lead.severity
    related = [str(row) for row in upstream.related(doc)]
    ops = list(dict.fromkeys(doc.ops))
    return ConfirmedRow(
        severity.level, doc.slug, doc.kind, doc.component, ops, len(family.members), severity.reasons, related
    )


def _provisional(cause: Cause, replay: Callable[[str], str]) -> ProvisionalRow:
    doc, suspect = cause.lead, cause.lead.suspect
    return ProvisionalRow(
        doc.kind,
        doc.component,
        doc.lane.name,
        suspect.operators,
        suspect.words,
        headline(doc.finding),
        len(cause.members),
        [member.slug for member in cause.members],
        replay(doc.slug),
    )
