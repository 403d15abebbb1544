"""The order in which people should read findings: families, by severity, and in each level first what is unlike others.

Within a level the order is that of Chen et al., "Taming Compiler Fuzzers" (PLDI 2013): furthest point first. The first
has the highest score, each next one is the furthest from all before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fuzzer.campaign.triage.priority import Traits, distance, traits_of_saved
from fuzzer.findings import finding_file, upstream
from fuzzer.findings.families.grouping import families, input_types
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.severity import Level, Severity, severity_of
from fuzzer.signature import known
from fuzzer.signature.blame import Place
from fuzzer.watching.formatting import number_of


@dataclass(frozen=True, slots=True)
class Ranked:
    """A finding with its severity."""

    doc: FindingDoc
    severity: Severity


@dataclass(frozen=True, slots=True)
class Family:
    """Findings that one fix would probably mend, the most severe first, but those that ship with difftvm last."""

    members: tuple[Ranked, ...]

    @property
    def lead(self) -> Ranked:
        """The member that stands for the family in lists and reports."""
        return self.members[0]

    def without(self, leave_out: Callable[[FindingDoc], object]) -> Family | None:
        """Return the family without some members; None if none is left."""
        left = tuple(each for each in self.members if not leave_out(each.doc))
        return Family(left) if left else None


def ranked(findings: Iterable[tuple[Path, FindingDoc]], shipped: Set[str] = frozenset()) -> list[Family]:
    """Return the families of findings, each with its folder given, in the order in which people should read them. Of a
    family, the names of `shipped` come last: what a campaign has found must not stand below what everybody knows."""
    found = {}
    for members in families(findings):
        known = [_ranked(folder, doc) for folder, doc in members]
        family = Family(tuple(sorted(known, key=lambda each: _place_in_family(each, shipped))))
        found[family.lead.doc.slug] = family
    leads = [family.lead for family in found.values()]
    order = (each for level in Level for each in furthest_first([one for one in leads if one.severity.level is level]))
    return [found[each.doc.slug] for each in order]


def _place_in_family(member: Ranked, shipped: Set[str]) -> tuple[bool, float, str]:
    return member.doc.slug in shipped, -member.severity.score, member.doc.slug


def _ranked(folder: Path, doc: FindingDoc) -> Ranked:
    return Ranked(doc, severity_of(doc, input_types(folder)))


def furthest_first(findings: Sequence[Ranked]) -> list[Ranked]:
    """Return findings of one level in order. Ties go to the higher score, and then to the name."""
    left = sorted(findings, key=lambda each: (-each.severity.score, each.doc.slug))
    traits = {each.doc.slug: traits_of_saved(each.doc.ops, each.doc.identity, each.doc.lane) for each in left}
    near = dict.fromkeys(traits, 1.0)  # how far each is from the nearest one in the order
    order: list[Ranked] = []
    while left:
        place = max(range(len(left)), key=lambda i: (near[left[i].doc.slug], -i)) if order else 0
        order.append(left.pop(place))
        _update(near, traits, order[-1].doc.slug, left)
    return order


def _update(near: dict[str, float], traits: dict[str, Traits], last: str, left: Sequence[Ranked]) -> None:
    for each in left:
        slug = each.doc.slug
        near[slug] = min(near[slug], distance(traits[slug], traits[last]))


MOST_REASONS = 3
"""How many reasons for its severity a list gives for each finding."""


MOST_MEMBERS = 6
"""How many members of a family a list names beside the first."""


def details_of(family: Family) -> list[str]:
    """Lines below the first one of a family: the reasons for its severity, and the operators of other findings."""
    lead, *others = family.members
    lines = [f"      {'; '.join(lead.severity.reasons[:MOST_REASONS])}"]
    if others:
        lines.append(f"      perhaps one cause with {number_of(len(others), 'other finding')}: {_named(others)}")
    return lines


def _named(others: Sequence[Ranked]) -> str:
    names = list(dict.fromkeys(f"{each.doc.kind} {'+'.join(each.doc.ops)}" for each in others))
    more = [f"{len(names) - MOST_MEMBERS} more"] if len(names) > MOST_MEMBERS else []
    return ", ".join([*names[:MOST_MEMBERS], *more])


KNOWN, UNSPECIFIED = "known behaviour", "unspecified upstream"


def apart(doc: FindingDoc) -> str:
    """Return why a finding is counted and not listed: `KNOWN`, `UNSPECIFIED`, or "" if it is listed."""
    if known.match(doc.identity):
        return KNOWN
    return UNSPECIFIED if upstream.unspecified(doc) else ""


def listed_in(folders: Iterable[Path]) -> list[Family]:
    """Return the families of saved findings that are listed, in their order. Findings that cannot be read, which
    `fuzz triage` reports, are left out."""
    return [left for family in ranked(finding_file.readable(folders)) if (left := family.without(apart))]


class Grouping(StrEnum):
    """What `fuzz triage --by` groups findings by: with `age`, what the last run found comes first."""

    AGE = "age"
    SEVERITY = "severity"
    COMPONENT = "component"
    OPERATOR = "operator"
    PASS = "pass"
    KIND = "kind"
    RELEASE = "release"


_NAMES: dict[Grouping, Callable[[Ranked], Sequence[str]]] = {
    Grouping.AGE: lambda each: [""],  # a campaign knows it, a finding does not
    Grouping.SEVERITY: lambda each: [each.severity.level],
    Grouping.COMPONENT: lambda each: [each.doc.component],
    Grouping.OPERATOR: lambda each: list(dict.fromkeys(each.doc.ops)) or ["no operator"],
    Grouping.PASS: lambda each: [_part(each.doc)],
    Grouping.KIND: lambda each: [each.doc.kind],
    Grouping.RELEASE: lambda each: [_release(each.doc)],
}


def _part(doc: FindingDoc) -> str:
    """The pass at fault, or the other part of TVM."""
    place, culprit = doc.blame.place, doc.blame.culprit
    if place is Place.PASS and culprit:
        return culprit
    return f"no pass: {OTHER_PLACES[place]}"


OTHER_PLACES = {
    Place.FRONTEND: "the frontend",
    Place.PASS: "the optional passes together",
    Place.LEGALIZATION: "a legalization",
    Place.CODEGEN: "code generation",
    Place.RUNTIME: "the runtime",
    None: "not located",
}


def _release(doc: FindingDoc) -> str:
    if doc.introduced.builds:
        return f"introduced by {doc.introduced.shown}"
    new = doc.releases.introduced
    return f"new in {new}" if new else "in all releases that were run"


def grouped(found: Iterable[Family], by: Grouping) -> dict[str, list[Family]]:
    """Return the families by the name of the group of one of their members, in the order of the first in each. A family
    is in several groups where its members are, or where one of them has several operators."""
    groups: dict[str, list[Family]] = {}
    for family in found:
        members = family.members if by is not Grouping.SEVERITY else family.members[:1]
        for name in dict.fromkeys(name for each in members for name in _NAMES[by](each)):
            groups.setdefault(name, []).append(family)
    return groups


CSV_HEAD = ("severity", "score", "slug", "family", "component", "kind", "operators", "lanes", "reasons")


def csv_rows(found: Iterable[Family]) -> Iterator[tuple[str, ...]]:
    """A row for each finding. A family has the name of its first member."""
    for family in found:
        for each in family.members:
            doc, severity = each.doc, each.severity
            names = (severity.level, f"{severity.score:g}", doc.slug, family.lead.doc.slug, doc.component, doc.kind)
            yield *names, " ".join(doc.ops), " ".join(doc.lanes), "; ".join(severity.reasons)
