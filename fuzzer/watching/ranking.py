"""The order in which people should read findings: by severity, and in each level first those that are unlike others.

Within a level the order is that of Chen et al., "Taming Compiler Fuzzers" (PLDI 2013): furthest point first. The first
has the highest score, each next one is the furthest from all before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fuzzer.campaign.priority import Traits, distance, traits_of_saved
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.severity import Level, Severity, severity_of
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import number_of
from generators import case_file
from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class Ranked:
    """A finding with its severity."""

    doc: FindingDoc
    severity: Severity


def ranked(findings: Iterable[tuple[Path, FindingDoc]]) -> list[Ranked]:
    """Return the findings, each with its folder given, in the order in which people should read them."""
    known = [Ranked(doc, severity_of(doc, _types(folder))) for folder, doc in findings]
    return [each for level in Level for each in furthest_first([one for one in known if one.severity.level is level])]


def _types(folder: Path) -> tuple[str, ...]:
    """The types of the inputs; none where the case cannot be read, which `fuzz triage` reports elsewhere."""
    try:
        return case_file.input_types(folder)
    except Invalid:
        return ()


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


def lines_of(each: Ranked) -> list[str]:
    """A finding in a list: a line about it, and a line with the reasons for its severity."""
    return [f"  {found_line(each.doc)}", f"      {'; '.join(each.severity.reasons[:MOST_REASONS])}"]


def worth_a_look(findings: Iterable[tuple[Path, FindingDoc]], most: int = 3) -> list[str]:
    """Return lines about the findings that deserve a look first, each with its level and the reasons, and the number of
    the others."""
    order = ranked(findings)
    lines = [line for each in order[:most] for line in (f"  {each.severity.level}:", *lines_of(each))]
    return [*lines, *([f"  and {number_of(len(order) - most, 'other')}"] if len(order) > most else [])]


class Grouping(StrEnum):
    """What `fuzz triage --by` groups findings by."""

    SEVERITY = "severity"
    COMPONENT = "component"
    OPERATOR = "operator"
    KIND = "kind"
    RELEASE = "release"


_NAMES: dict[Grouping, Callable[[Ranked], Sequence[str]]] = {
    Grouping.SEVERITY: lambda each: [each.severity.level],
    Grouping.COMPONENT: lambda each: [each.doc.component],
    Grouping.OPERATOR: lambda each: list(dict.fromkeys(each.doc.ops)) or ["no operator"],
    Grouping.KIND: lambda each: [each.doc.kind],
    Grouping.RELEASE: lambda each: [_release(each.doc)],
}


def _release(doc: FindingDoc) -> str:
    new = doc.releases.introduced
    return f"new in {new}" if new else "in all releases that were run"


def grouped(findings: Iterable[Ranked], by: Grouping) -> dict[str, list[Ranked]]:
    """Return the findings by the name of their group, in the order of their first members. A finding of several
    operators is in the group of each."""
    groups: dict[str, list[Ranked]] = {}
    for each in findings:
        for name in _NAMES[by](each):
            groups.setdefault(name, []).append(each)
    return groups


CSV_HEAD = ("severity", "score", "slug", "component", "kind", "operators", "lanes", "reasons")


def csv_rows(findings: Iterable[Ranked]) -> Iterator[tuple[str, ...]]:
    for each in findings:
        doc, severity = each.doc, each.severity
        names = (severity.level, f"{severity.score:g}", doc.slug, doc.component, doc.kind)
        yield *names, " ".join(doc.ops), " ".join(doc.lanes), "; ".join(severity.reasons)
