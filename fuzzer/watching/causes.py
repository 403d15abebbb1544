"""What a campaign has seen, as causes: the one query of `fuzz triage`, `fuzz status`, `fuzz run`, the screen, the
dashboard, the metrics and the files for scripts. It reads the folder of the campaign, which may be running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from fuzzer.campaign.plan import last_run
from fuzzer.campaign.store.layout import PARKED, WAITING
from fuzzer.campaign.store.state import State
from fuzzer.campaign.triage.provisional import Cause, further_sightings, provisional_causes
from fuzzer.findings import finding_file
from fuzzer.findings import merge as merging
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.merge import Merge
from fuzzer.findings.severity import Level
from fuzzer.watching.on_disk import counted_in, findings_of
from fuzzer.watching.ranking import Family, apart, ranked
from generators.graph import Invalid
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Component

SHIPPED = "SHIPPED"
"""The file of `crashes/` with the names of the findings that ship with difftvm."""


class Age(StrEnum):
    """The groups in which lists show causes, in their order."""

    NEW = "new in the last run"
    EARLIER = "found earlier"
    KNOWN = "known: they ship with difftvm"


@dataclass(frozen=True, slots=True)
class Causes:
    """What a campaign has seen. What other components than TVM are to blame for is apart: difftvm does not look for it.

    families            all findings but duplicates, in the order in which people should read them
    confirmed           those of TVM's that are neither known behaviour nor unspecified upstream: a cause each
    provisional         the causes in TVM of the sightings that wait for triage: none of them is confirmed yet
    other_confirmed     the families of other components
    other_provisional   the provisional causes of other components
    further             by the slug of a finding that confirms its cause, the sightings of it that wait
    apart               by reason, how many findings are counted and not listed
    duplicates          by the slug of each finding, its duplicates
    folders             by slug, the folder of a finding
    shipped             the findings that ship with difftvm
    parked              how many sightings are parked, because their triage failed several times
    unreadable          for each finding, and for a list of duplicates or the counters, that cannot be read, the reason
    met                 by slug, how many tests met a finding
    began               when the last run began, as Unix time; None where no run is recorded
    last                by slug, the Unix time at which a test was last counted for a finding
    """

    campaign: Path
    families: Sequence[Family] = ()
    confirmed: Sequence[Family] = ()
    provisional: Sequence[Cause] = ()
    other_confirmed: Sequence[Family] = ()
    other_provisional: Sequence[Cause] = ()
    further: Mapping[str, Sequence[FindingDoc]] = field(default_factory=dict)
    apart: Mapping[str, int] = field(default_factory=dict)
    duplicates: Mapping[str, Sequence[Merge]] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    shipped: frozenset[str] = frozenset()
    parked: int = 0
    unreadable: Sequence[str] = ()
    met: Mapping[str, int] = field(default_factory=dict)
    began: float | None = None
    last: Mapping[str, float] = field(default_factory=dict)

    def is_new(self, family: Family) -> bool:
        """Whether the last run found one of its findings."""
        return self.began is not None and any(
            each.doc.found >= self.began and each.doc.slug not in self.shipped for each in family.members
        )

    def is_known(self, family: Family) -> bool:
        """Whether all of its findings ship with difftvm."""
        return all(each.doc.slug in self.shipped for each in family.members)

    def age(self, family: Family) -> Age:
        return Age.KNOWN if self.is_known(family) else Age.NEW if self.is_new(family) else Age.EARLIER

    def is_met(self, family: Family) -> bool:
        return any(self.met.get(each.doc.slug) for each in family.members)

    @property
    def counts(self) -> CauseCounts:
        known = [family for family in self.confirmed if self.is_known(family)]
        slugs = [each.doc.slug for family in self.confirmed for each in family.members]
        others = [family.lead.doc for family in self.other_confirmed]
        others += [cause.lead for cause in self.other_provisional]
        return CauseCounts(
            _levels(self.confirmed),
            len(slugs),
            len(self.shipped.intersection(slugs)),
            len(self.provisional),
            sightings_in(self.provisional),
            sum(len(family.members) for family in self.other_confirmed),
            sightings_in(self.other_provisional),
            tuple(dict.fromkeys(doc.component for doc in others)),
            self.parked,
            sum(map(len, self.further.values())),
            _levels(family for family in self.confirmed if self.is_new(family)),
            _levels(known),
            sum(map(self.is_met, known)),
        )


def _levels(families: Iterable[Family]) -> dict[Level, int]:
    """How many causes there are of each level, the worst first."""
    counted = Counter(family.lead.severity.level for family in families)
    return {level: counted[level] for level in Level if counted[level]}


@dataclass(frozen=True, slots=True)
class CauseCounts:
    """How much a campaign has seen. Counts of other components than TVM are apart.

    levels       by severity, the worst first, the confirmed causes
    findings     the findings that these causes have
    shipped      those of them that ship with difftvm
    provisional  the causes that are not confirmed yet
    sightings    those of them, which wait for triage
    further      the sightings of confirmed causes that wait
    components   the other components that are to blame for something
    new          by severity, the confirmed causes that the last run found
    known        by severity, those that ship with difftvm; `known_met` of them were met
    """

    levels: Mapping[Level, int] = field(default_factory=dict)
    findings: int = 0
    shipped: int = 0
    provisional: int = 0
    sightings: int = 0
    other_findings: int = 0
    other_waiting: int = 0
    components: Sequence[Component] = ()
    parked: int = 0
    further: int = 0
    new: Mapping[Level, int] = field(default_factory=dict)
    known: Mapping[Level, int] = field(default_factory=dict)
    known_met: int = 0

    @property
    def waiting(self) -> int:
        """All sightings in TVM that wait for triage."""
        return self.sightings + self.further

    @property
    def confirmed(self) -> int:
        return sum(self.levels.values())

    @property
    def earlier(self) -> dict[Level, int]:
        """By severity, the confirmed causes that are neither new nor known."""
        left = {level: n - self.new.get(level, 0) - self.known.get(level, 0) for level, n in self.levels.items()}
        return {level: n for level, n in left.items() if n}


def sightings_in(causes: Iterable[Cause]) -> int:
    return sum(len(cause.members) for cause in causes)


def causes_in(campaign: Path) -> Causes:
    """Read what a campaign has seen. Sightings that cannot be read are left out."""
    read, unreadable = findings_of(campaign)
    try:
        merged = merging.read(campaign)
    except Invalid as error:  # `fuzz triage --merge` writes it again
        merged = {}
        unreadable.append(str(error))
    duplicates = merging.duplicates_by_slug([doc for _, doc in read], merged)
    kept = [(folder, doc) for folder, doc in read if doc.slug in duplicates]
    try:
        counted = counted_in(campaign)
    except Invalid as error:  # `fuzz status --repair` makes the index again
        counted = State(0)
        unreadable.append(str(error))
    shipped = _shipped(campaign / finding_file.CRASHES, {doc.slug for _, doc in read})
    families = ranked(kept, shipped)
    listed = [left for family in families if (left := family.without(apart))]
    sightings = [doc for _, doc in finding_file.readable(finding_file.folders_in(campaign / WAITING))]
    docs = [doc for _, doc in read]
    waiting = provisional_causes(sightings, docs)
    return Causes(
        campaign,
        families,
        [family for family in listed if _is_of_tvm(family.lead.doc)],
        [cause for cause in waiting if cause.is_of_tvm],
        [family for family in listed if not _is_of_tvm(family.lead.doc)],
        [cause for cause in waiting if not cause.is_of_tvm],
        further_sightings(sightings, docs),
        Counter(reason for _, doc in kept if (reason := apart(doc))),
        duplicates,
        {doc.slug: folder for folder, doc in kept},
        shipped,
        len(finding_file.folders_in(campaign / PARKED)),
        unreadable,
        _by_slug(docs, counted.found),
        last_run.began(campaign),
        _by_slug(docs, counted.last),
    )


def _by_slug(docs: Iterable[FindingDoc], numbers: Mapping[str, int]) -> dict[str, int]:
    """What is known by signature, by the slugs of findings."""
    return {doc.slug: numbers[doc.signature] for doc in docs if doc.signature in numbers}


def _is_of_tvm(doc: FindingDoc) -> bool:
    return doc.component is Component.TVM


def _shipped(crashes: Path, slugs: set[str]) -> frozenset[str]:
    try:
        names = read_plain(crashes / SHIPPED, MOST_TEXT).decode(errors="replace").split()
    except OSError:  # only the project's own folder has the file
        return frozenset()
    return frozenset(slugs.intersection(names))
